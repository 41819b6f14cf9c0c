print("Hello, " + name)
