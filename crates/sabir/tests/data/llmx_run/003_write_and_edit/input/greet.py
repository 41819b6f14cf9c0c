print("Hi " + name)
