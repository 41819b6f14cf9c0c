//! Documents that want to hurt the translators: very deep, wrapped again and again, half true.

use sabir_lingua::{Refused, Tongue, convert};

/// TR-R6.
#[test]
fn the_deepest_axon_comes_back() {
    for (open, close) in [("[", "]"), ("f(", ")"), ("#t{a:", "}"), ("~(", ")"), ("(a->(b&", "))")] {
        let times = 128 / open.matches(['[', '(', '{']).count();
        let text = format!("INF(@a>@b): {}x{}\n", open.repeat(times), close.repeat(times));
        assert!(!sabir_axon::parse(&text).has_errors(), "{text}");
        for by in [Tongue::Llmx, Tongue::Frame] {
            let there = convert(&text, Tongue::Axon, by).unwrap();
            let back = convert(&there, by, Tongue::Axon).unwrap();
            let (before, after) = (sabir_axon::parse(&text), sabir_axon::parse(&back));
            assert!(sabir_axon::same(&before.tree, &after.tree), "{text}");
        }
    }
}

/// TR-R6. As many `~` as JSON holds, and one more.
#[test]
fn a_million_approximations_are_refused_by_their_message() {
    let text = |times: usize| format!("INF(@a>@b): x\nINF(@a>@b): {}x\n", "~ ".repeat(times));
    for by in [Tongue::Json, Tongue::Llmx, Tongue::Frame] {
        let there = convert(&text(70_000), Tongue::Axon, by).unwrap();
        assert!(convert(&there, by, Tongue::Axon).is_ok());
        let refused = convert(&text((1 << 20) + 1), Tongue::Axon, by);
        assert_eq!(refused, Err(Refused::TooLarge { message: 2 }));
    }
}

#[test]
fn the_deepest_llmx_comes_back() {
    for (open, close) in [("[", "]"), ("{a:", "}"), ("(a:", ")")] {
        for field in ["c", "x_c"] {
            let nested = format!("{}1{}", open.repeat(126), close.repeat(126));
            let text = format!("HEADER:{{f:a,t:b,s:1}}\nOBS:{{s:OK,{field}:{nested}}}\n");
            assert!(!sabir_llmx::parse(&text).has_errors(), "{text}");
            let there = convert(&text, Tongue::Llmx, Tongue::Axon).unwrap();
            let back = convert(&there, Tongue::Axon, Tongue::Llmx).unwrap();
            let (before, after) = (sabir_llmx::parse(&text), sabir_llmx::parse(&back));
            assert!(sabir_llmx::same(&before.tree, &after.tree), "{text}");
        }
    }
}

/// What looks translated but is not exactly what a translation gives is a text of its own (TR-R4).
#[test]
fn half_true_forms_come_back() {
    for text in [
        "HEADER:{f:a,t:b,s:1,x_meta:1}\nREQ:{o:\"x\",pr:3}\n",
        "HEADER:{f:a,t:b,s:1,x_meta:[[\"id\",\"m\"]]}\nREQ:{o:\"x\",pr:3}\n",
        "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"f(\",pr:3,x_lang:axon}\n",
        "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"x INF(@a>@b): y\",pr:3,x_lang:axon}\n",
        "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"( x )\",pr:3,x_lang:axon}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{json:\"[[[\"}}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{json:\"1.5\"}}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{nil:false}}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{tag:\"a b\"}}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{value:{value:1}}}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{value:1},x_perf:INF}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{value:1},x_perf:\"INF\"}\n",
        "HEADER:{f:a,t:b,s:1}\nOBS:{s:OK,c:{value:1},x_perf:INF,x_perf2:INF}\n",
        "HEADER:{f:\"*\",t:\"@ALL\",s:1}\nRES:{o:\"ACK\"}\n",
        "HEADER:{f:\"[@a,@b]\",t:\"@b\",s:1}\nRES:{o:\"ACK\"}\n",
        "HEADER:{f:\"[\",t:\"[]\",s:1}\nRES:{o:\"ACK\",msg:\"\"}\n",
        "HEADER:{f:a,t:[],s:1}\nRES:{o:\"ACK\"}\n",
        "HEADER:{f:a,t:[ALL],s:1}\nRES:{o:\"ACK\"}\n",
        "HEADER:{f:a,t:b,s:1.5}\nRES:{o:\"ACK\"}\n",
        "HEADER:{f:a,t:b,s:99999999999999999999999}\nRES:{o:\"ACK\"}\n",
        "HEADER:{f:a,t:b,s:18446744073709551615}\nRES:{o:\"ACK\"}\nHEADER:{f:a,t:b,s:18446744073709551615}\nRES:{o:\"ACK\"}\n",
        "HEADER:{f:a,t:b,s:1,id:\"x\",seq:3}\nRES:{o:\"ACK\"}\n",
        "HEADER:{}\nREQ:[1,2]\nPLAN:{a:1}\nPLAN:[1,(a:1),[2]]\nX_Y:[(a:1),b,c/d]\nFOO:{A:1,a:2}\n",
    ] {
        let there = convert(text, Tongue::Llmx, Tongue::Axon).unwrap();
        let back = convert(&there, Tongue::Axon, Tongue::Llmx).unwrap();
        let (before, after) = (sabir_llmx::parse(text), sabir_llmx::parse(&back));
        assert!(!before.has_errors(), "{:?}", before.diagnostics);
        assert!(sabir_llmx::same(&before.tree, &after.tree), "{text}{there}{back}");
    }
    for text in [
        "[seq:1]REQ(@a>@b): x",
        "[seq:1]REQ(@a>@b): #REQ{o:x}",
        "[seq:1]INF(@a>@b): #REQ{o:\"x\",pr:1}",
        "[seq:1.0]REQ(@a>@b): #REQ{o:\"x\",pr:1}",
        "[seq:01]REQ(@a>@b): #REQ{o:\"x\",pr:1}",
        "[header:{f:\"a\"}]REQ(@a>@b): #REQ{o:\"x\",pr:1}",
        "[header:{}]INF(@_>@_): _",
        "[seq:1,header:{}]INF(@a>@b): _",
        "[seq:1]INF(@a>@b): #X_A{a:word(\"b c\"),b:llmx(\"]\"),c:run(\"\"),d:tuple(1)}",
        "[seq:1]INF(@a>@b): X_A([name,1,_])",
        "[seq:1]REQ(@a>@b): #REQ{o:\"x\",pr:3}",
        "REQ(*>*): #frame{task_type:\"x\",instruction:\"y\"}",
        "REQ(*>*): #frame{task_type:\"x y\",instruction:\"y\"}",
        "REQ(*>*): #x{instruction:\"y\",n:num(\"1e5\"),m:num(\"x\")}",
        "[id:\"1\"]REQ(*>*): #x{instruction:\"y\"}",
    ] {
        for by in [Tongue::Llmx, Tongue::Frame] {
            let there = convert(text, Tongue::Axon, by).unwrap();
            let back = convert(&there, by, Tongue::Axon).unwrap();
            let (before, after) = (sabir_axon::parse(text), sabir_axon::parse(&back));
            assert!(sabir_axon::same(&before.tree, &after.tree), "{text}\n{there}{back}");
        }
    }
}

/// TR-R5.
#[test]
fn a_document_with_errors_is_refused() {
    assert!(matches!(convert("INF(", Tongue::Axon, Tongue::Llmx), Err(Refused::Syntax(_))));
    assert!(matches!(convert("REQ:{", Tongue::Llmx, Tongue::Axon), Err(Refused::Syntax(_))));
    for text in ["", "{", "1", "{\"task_type\":\"x\"}", "{\"task_type\":1,\"instruction\":\"x\"}"] {
        assert!(matches!(convert(text, Tongue::Frame, Tongue::Axon), Err(Refused::Json(_))));
    }
    let deep = format!("{{\"task_type\":\"x\",\"instruction\":\"y\",\"z\":{}", "[".repeat(100_000));
    assert!(matches!(convert(&deep, Tongue::Frame, Tongue::Axon), Err(Refused::Json(_))));
}
