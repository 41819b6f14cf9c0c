//! A node at a fixed address, which a script in a browser may have killed and started again.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agents::harbor::{Node, run_at};

/// A test that fails leaves no node behind.
pub(crate) struct Stage {
    home: PathBuf,
    name: String,
    listen: String,
    sections: String,
    args: Vec<String>,
    node: Option<Node>,
}

impl Stage {
    /// Starts a node with these sections of a configuration and these arguments.
    pub(crate) fn open(home: &Path, name: &str, sections: &str, args: &[&str]) -> Self {
        // It has to come back where others look for it.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut stage = Self {
            home: home.to_owned(),
            name: name.to_owned(),
            listen: format!("127.0.0.1:{port}"),
            sections: sections.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            node: None,
        };
        stage.start();
        stage
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// Signs a person in; it holds for every start.
    pub(crate) fn link(&self) -> String {
        super::super::link(self.node.as_ref().unwrap())
    }

    pub(crate) fn start(&mut self) {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let at = (self.name.as_str(), self.listen.as_str());
        // No model server of the tester's.
        let envs = [("SABIR_LOCAL_PORTS", "")];
        self.node = Some(Node::start_at(&self.home, at, &self.sections, &args, &envs));
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.node.take().unwrap().kill();
    }

    /// SIGTERM, in good order.
    pub(crate) fn end(mut self) {
        self.node.take().unwrap().end();
    }

    /// `sabir ARGS` in its home, beside it.
    pub(crate) fn sabir(&self, args: &[&str]) -> Value {
        let outcome = run_at(&self.home, args);
        json!({ "code": outcome.code, "stdout": outcome.stdout, "stderr": outcome.stderr })
    }

    /// What every script may wish for.
    pub(crate) fn does(&mut self, wish: &str, more: &[Value]) -> Value {
        match wish {
            "kill" => self.kill(),
            "start" => self.start(),
            "sabir" => {
                let args: Vec<&str> = more.iter().map(|arg| arg.as_str().unwrap()).collect();
                return self.sabir(&args);
            }
            other => panic!("nobody does {other}"),
        }
        Value::Null
    }
}
