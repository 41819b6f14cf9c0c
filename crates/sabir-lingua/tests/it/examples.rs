//! The tables of `docs/protocol/translation.md`, row by row, as texts (TR-R2, TR-R3).

use expect_test::{Expect, expect};
use sabir_lingua::{Tongue, convert};

/// Translates, and back again.
fn check(text: &str, from: Tongue, to: Tongue, expected: Expect) {
    let there = convert(text, from, to).unwrap();
    expected.assert_eq(&there);
    let back = convert(&there, to, from).unwrap();
    assert_eq!(back, convert(text, from, from).unwrap(), "{there}");
}

#[test]
fn axon_performatives_in_llmx() {
    check(
        r#"REQ(@ceo>@vp): "close the books"
[^:5] REQ(@ceo>@vp): "now"
[^:3] REQ(@ceo>@vp): "soon"
[^:5,id:"m1"] REQ(@ceo>@vp): "now"
CMD(@ops>@web): shell("systemctl restart web")
CMD(@ops>@web): edit("p:a.rs#L4",text:"x",force:T)
CMD(@ops>@web): restart(@nginx)
QRY(@a>@b): status(@server)
QRY(@a>@b): "ready?"
RPL(@b>@a): {cpu:80%,up:T,load:1.50}
RPL(@b>@a): 007
INF(@b>*): #alert{level:3,Host:"db"}
ERR(@b>@a): "timeout"
ERR(@b>@a): #timeout{after:60s}
PRO(@a>@b): "survey"->"build"->"inspect"
PRO(@a>@b): price(5usd)
ACC(@b>@a): _
REJ(@b>@a): "too dear"
CTR(@b>@a): price(4usd)
ACK(@b>@a): _
NAK(@b>@a): #malformed
DEL(@a>@b): REQ(*>@c): clean
SUB(@a>@b): prices
CAN(@a>@b): _
X.trade.BID(@a>@b): 5
"#,
        Tongue::Axon,
        Tongue::Llmx,
        expect![[r##"
            HEADER:{f:ceo,t:vp,s:1}
            REQ:{o:"close the books",pr:3}
            HEADER:{f:ceo,t:vp,s:2}
            REQ:{o:"now",pr:1}
            HEADER:{f:ceo,t:vp,s:3,x_pri:3}
            REQ:{o:"soon",pr:3}
            HEADER:{f:ceo,t:vp,s:4,x_pri:5,x_id:"m1"}
            REQ:{o:"now",pr:1}
            HEADER:{f:ops,t:web,s:1}
            ACT:{op:shell,tgt:"systemctl restart web"}
            HEADER:{f:ops,t:web,s:2}
            ACT:{op:edit,tgt:"p:a.rs#L4",args:{text:"x",force:true}}
            HEADER:{f:ops,t:web,s:3}
            REQ:{o:"restart(@nginx)",pr:3,x_perf:CMD,x_lang:axon}
            HEADER:{f:a,t:b,s:1}
            ASK:{q:"status(@server)",o:[],x_lang:axon}
            HEADER:{f:a,t:b,s:2}
            ASK:{q:"ready?",o:[]}
            HEADER:{f:b,t:a,s:1}
            OBS:{s:OK,c:{cpu:{num:"80",unit:"%"},up:true,load:1.50}}
            HEADER:{f:b,t:a,s:2}
            OBS:{s:OK,c:{num:"007"}}
            HEADER:{f:b,t:ALL,s:3}
            OBS:{s:OK,c:{tag:"alert",pairs:[["level",3],["Host","db"]]},x_perf:INF}
            HEADER:{f:b,t:a,s:4}
            OBS:{s:ERR,e:"timeout"}
            HEADER:{f:b,t:a,s:5}
            OBS:{s:ERR,e:"#timeout{after:60s}",x_lang:axon}
            HEADER:{f:a,t:b,s:3}
            PLAN:[(i:1,t:"survey",s:P),(i:2,t:"build",s:P),(i:3,t:"inspect",s:P)]
            HEADER:{f:a,t:b,s:4}
            REQ:{o:"price(5usd)",pr:3,x_perf:PRO,x_lang:axon}
            HEADER:{f:b,t:a,s:6}
            RES:{o:"ACC"}
            HEADER:{f:b,t:a,s:7}
            RES:{o:"REJ",msg:"too dear"}
            HEADER:{f:b,t:a,s:8}
            RES:{o:"CTR",msg:"price(4usd)",x_lang:axon}
            HEADER:{f:b,t:a,s:9}
            RES:{o:"ACK"}
            HEADER:{f:b,t:a,s:10}
            RES:{o:"NACK",msg:"#malformed",x_lang:axon}
            HEADER:{f:a,t:b,s:5}
            REQ:{o:"REQ(*>@c): clean",pr:3,x_perf:DEL,x_lang:axon}
            HEADER:{f:a,t:b,s:6}
            REQ:{o:"prices",pr:3,x_perf:SUB,x_lang:axon}
            HEADER:{f:a,t:b,s:7}
            REQ:{o:"_",pr:3,x_perf:CAN,x_lang:axon}
            HEADER:{f:a,t:b,s:8}
            OBS:{s:OK,c:{value:5},x_perf:"X.trade.BID"}
        "##]],
    );
}

#[test]
fn axon_routing_and_metadata_in_llmx() {
    check(
        r#"[id:"m1",%%:1,ts:1700000000,ctx:"c",^:2,note:_,deep:{a:[1,T]}] INF(@ops.db>[@a,@b]): T
[x-y:1,id:"m2"] INF(*>@ALL): F
INF([@a,@b]>*): [1,{op:"x"},{}]
[v:1] INF(@ops.db>@a-): {"a b":1}
"#,
        Tongue::Axon,
        Tongue::Llmx,
        expect![[r#"
            HEADER:{f:"ops.db",t:[a,b],s:1,x_id:"m1",x_v:1,x_ts:1700000000,x_ctx:"c",x_pri:2,x_note:{nil:true},x_deep:{a:[1,true]}}
            OBS:{s:OK,c:{value:true},x_perf:INF}
            HEADER:{f:"*",t:"@ALL",s:1,x_meta:[["x-y",1],["id","m2"]]}
            OBS:{s:OK,c:{value:false},x_perf:INF}
            HEADER:{f:"[@a,@b]",t:ALL,s:1}
            OBS:{s:OK,c:{value:[1,{record:{op:"x"}},{}]},x_perf:INF}
            HEADER:{f:"ops.db",t:a-,s:2,x_meta:[["v",1]]}
            OBS:{s:OK,c:{pairs:[["a b",1]]},x_perf:INF}
        "#]],
    );
}

#[test]
fn llmx_blocks_in_axon() {
    check(
        r#"HEADER:{f:Orchestrator,t:ALL,s:42,b:B1}
CTX:{p:shop,f:["src/api.ts"],st:{phase:"P1"}}
REQ:{o:"add login",pr:2,d:["S-1"]}
PLAN:[(i:1,t:"read",s:C),(i:2,t:"write",s:P)]
HEADER:{f:Worker,t:Orchestrator,s:1,x_re:"m1",x_v:1,x_team:Blue}
ACT:{i:A1,op:read,tgt:"p:src/api.ts#L4-9"}
HEADER:{f:Worker,t:Orchestrator,s:2}
OBS:{ai:A1,s:OK,c:{lines:45,ratio:1e3}}
OBS:{ai:A2,s:ERR,e:"no such file"}
HEADER:{f:Worker,t:Orchestrator,s:3}
BLK:{w:"no key",a:["mock","wait"],esc:true}
ASK:{q:"which?",o:["mock","wait"],def:"mock"}
HEADER:{f:"Agent Smith",t:[Worker,Neo],s:1}
RES:{o:"mock",msg:"for now"}
HEADER:{s:2,f:Worker,t:Neo}
END:{n:"review",del:["src/auth.ts"]}
X_METRICS:{Cpu:0.50,words:[a,"b",null]}
HEADER:{f:Worker,t:Neo,s:9}
"#,
        Tongue::Llmx,
        Tongue::Axon,
        expect![[r#"
            [seq:42,batch:"B1"]REQ(@Orchestrator>*): #CTX{p:"shop",f:["src/api.ts"],st:{phase:"P1"}}&#REQ{o:"add login",pr:2,d:["S-1"]}&PLAN([{i:1,t:"read",s:"C"},{i:2,t:"write",s:"P"}])
            [seq:1,re:"m1",%%:1,x_team:Blue]CMD(@Worker>@Orchestrator): #ACT{i:"A1",op:"read",tgt:"p:src/api.ts#L4-9"}
            [seq:2]RPL(@Worker>@Orchestrator): #OBS{ai:"A1",s:"OK",c:{lines:45,ratio:num("1e3")}}&#OBS{ai:"A2",s:"ERR",e:"no such file"}
            [seq:3]ERR(@Worker>@Orchestrator): #BLK{w:"no key",a:["mock","wait"],esc:T}&#ASK{q:"which?",o:["mock","wait"],def:"mock"}
            [header:{f:"Agent Smith",t:["Worker","Neo"],s:1}]RPL(@_>[@Worker,@Neo]): #RES{o:"mock",msg:"for now"}
            [header:{s:2,f:"Worker",t:"Neo"}]INF(@Worker>@Neo): #END{n:"review",del:["src/auth.ts"]}&#X_METRICS{Cpu:0.50,words:[a,"b",_]}
            [seq:9]INF(@Worker>@Neo): _
        "#]],
    );
}

#[test]
fn llmx_that_axon_says_natively() {
    check(
        r#"HEADER:{f:a,t:b,s:1}
REQ:{o:"fix it",pr:3}
HEADER:{f:b,t:a,s:1}
OBS:{s:OK,c:{done:true}}
HEADER:{f:a,t:b,s:2}
RES:{o:"ACK"}
HEADER:{f:b,t:a,s:2}
REQ:{o:"and that",pr:1}
HEADER:{f:a,t:b,s:3}
ACT:{op:search,tgt:"src",args:{q:"TODO"}}
HEADER:{f:a,t:ALL,s:4,x_id:"m4"}
PLAN:[(i:1,t:"read",s:P),(i:2,t:"write",s:P)]
"#,
        Tongue::Llmx,
        Tongue::Axon,
        expect![[r#"
            REQ(@a>@b): "fix it"
            RPL(@b>@a): {done:T}
            ACK(@a>@b): _
            [^:5]REQ(@b>@a): "and that"
            CMD(@a>@b): search("src",q:"TODO")
            [id:"m4"]PRO(@a>*): "read"->"write"
        "#]],
    );
}

#[test]
fn frames_in_axon() {
    check(
        r#"[{"task_type":"classification","instruction":"Classify sentiment","input":"It came on time","labels":["positive","negative"],"limit":1.50},
            {"instruction":"x","task_type":"two words","n":1e5,"nothing":null,"deep":{"a b":[{}]}}]"#,
        Tongue::Frame,
        Tongue::Axon,
        expect![[r#"
            REQ(*>*): #classification{instruction:"Classify sentiment",input:"It came on time",labels:["positive","negative"],limit:1.50}
            REQ(*>*): #frame{instruction:"x",task_type:"two words",n:num("1e5"),nothing:_,deep:{"a b":[{}]}}
        "#]],
    );
}

#[test]
fn axon_in_frames() {
    check(
        r#"[id:"m1",%%:1] REQ(@a>@b): "Summarise"
QRY(@a>@b): status(@x)
INF(@a>*): ""
"#,
        Tongue::Axon,
        Tongue::Frame,
        expect![[r#"
            [{"task_type":"REQ","instruction":"Summarise","axon":{"from":"@a","to":"@b","meta":{"id":"m1","%%":{"num":"1"}}}},{"task_type":"QRY","instruction":"status(@x)","axon":{"from":"@a","to":"@b","expression":true}},{"task_type":"INF","instruction":"\"\"","axon":{"from":"@a","to":"*","expression":true}}]
        "#]],
    );
}
