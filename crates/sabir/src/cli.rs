//! The command line: what can be said, and who does it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use sabir_base::text::{is_hidden, with_hidden_shown};

use crate::exit::Exit;
use crate::input::{Origin, ReadError, Source};
use crate::output::{Notes, Output};
use crate::{
    acp, agents, audit, axon, config, convert, doctor, explain, generate, llmcp, llmx, log, lsp,
    patch, policy, proto, research, run, sandbox, sessions, tokens,
};

/// The lingua franca for language-model agents.
#[derive(Debug, Parser)]
#[command(name = "sabir", version, arg_required_else_help = true, after_help = BEGIN)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArgs),
    #[command(subcommand)]
    Collection(research::collection::CollectionCommand),
    Capture(Box<research::capture::CaptureArgs>),
    Ask(Box<research::ask::AskArgs>),
    Transform(Box<research::transform::TransformArgs>),
    Share(research::share::ShareArgs),
    Search(research::search::SearchArgs),
    Summarize(Box<research::page::SummarizeArgs>),
    Extract(Box<research::page::ExtractArgs>),
    Render(research::render::RenderArgs),
    Up(Box<agents::up::UpArgs>),
    Delegate(Box<agents::delegate::DelegateArgs>),
    Card(agents::card::CardArgs),
    #[command(subcommand)]
    Delegates(agents::delegates::DelegatesCommand),
    #[command(subcommand)]
    Domain(agents::domain::DomainCommand),
    Keys(agents::keys::KeysArgs),
    Resume(sessions::ResumeArgs),
    Fork(sessions::ForkArgs),
    Sessions(sessions::SessionsArgs),
    Replay(sessions::ReplayArgs),
    Log(log::LogArgs),
    Proto(proto::ProtoArgs),
    /// Show what was decided, and check what is stored against its hashes
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Show what the policy file says, and what would be decided under it
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Check a configuration file, or print one to begin with
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Doctor(doctor::DoctorArgs),
    Acp(acp::AcpArgs),
    Mcp(Box<agents::mcp::McpArgs>),
    /// Check, format, repair and translate AXON
    #[command(subcommand, after_help = EXIT_CODES)]
    Axon(AxonCommand),
    /// Check, format, answer, carry out and translate LLMX, and print its grammar
    #[command(subcommand, after_help = EXIT_CODES)]
    Llmx(LlmxCommand),
    /// Check the packets that pass between an agent and a model
    #[command(subcommand, after_help = EXIT_CODES)]
    Llmcp(LlmcpCommand),
    Convert(convert::ConvertArgs),
    Tokens(tokens::TokensArgs),
    Sandbox(sandbox::SandboxArgs),
    Patch(patch::PatchArgs),
    Explain(explain::ExplainArgs),
    /// Serve editors over standard input and output (Language Server Protocol)
    #[command(after_help = "\
Examples:
  sabir lsp        start this from an editor, for files that end in .axon or .llmx")]
    Lsp {
        /// Speak over standard input and output; the only way there is, accepted because editors
        /// pass it
        #[arg(long)]
        stdio: bool,
    },
    /// Print the completion script for a shell
    #[command(after_help = "\
Examples:
  sabir completions bash > ~/.local/share/bash-completion/completions/sabir")]
    Completions {
        /// Whose completions
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write all of them to a directory
    #[command(after_help = "\
Examples:
  sabir man | man -l -
  sabir man ~/.local/share/man/man1")]
    Man {
        /// Where to write one page for every command
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
enum AxonCommand {
    Check(axon::check::CheckArgs),
    Fmt(axon::fmt::FmtArgs),
    Ast(axon::ast::AstArgs),
    Repair(axon::repair::RepairArgs),
    Json(axon::json::JsonArgs),
    Grammar(axon::grammar::GrammarArgs),
}

#[derive(Debug, Subcommand)]
enum LlmxCommand {
    Check(llmx::check::CheckArgs),
    Fmt(llmx::fmt::FmtArgs),
    Json(llmx::json::JsonArgs),
    Reply(llmx::reply::ReplyArgs),
    Run(Box<llmx::run::RunArgs>),
    Grammar(llmx::grammar::GrammarArgs),
}

#[derive(Debug, Subcommand)]
enum LlmcpCommand {
    Check(llmcp::check::CheckArgs),
}

/// One text to read.
#[derive(Debug, Args)]
pub(crate) struct OneFile {
    /// The file to read; `-` or nothing means standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

impl OneFile {
    pub(crate) fn read(self) -> Result<Source, ReadError> {
        self.file.map_or(Origin::Stdin, Origin::parse).read()
    }
}

/// Any number of texts to read.
#[derive(Debug, Args)]
pub(crate) struct ManyFiles {
    /// The files to read; `-` or nothing means standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// In which a grammar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    Ebnf,
    Lark,
    Gbnf,
}

/// The grammars of every notation are printed by the same printers.
impl From<Dialect> for sabir_axon::grammar::Format {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Ebnf => Self::Ebnf,
            Dialect::Lark => Self::Lark,
            Dialect::Gbnf => Self::Gbnf,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Forty commands are no place to begin.
const BEGIN: &str = "\
Where to begin:
  sabir doctor                whether everything is here that is needed
  sabir up                    a node, and a page in the browser to use it with
  sabir collection example    pages to try `sabir ask` on, without network and model
  sabir run \"TASK\"            an agent in this directory; it needs a model
  sabir help COMMAND          more about a command, with examples

Exit codes, where a command says no others:
  0  the input is valid, or the work is done
  1  the input has errors (with fmt --check: is not formatted)
  2  the command line is wrong, or a file cannot be read or written";

const EXIT_CODES: &str = "\
Exit codes:
  0  the input is valid, or the work is done
  1  the input has errors (with fmt --check: is not formatted)
  2  the command line is wrong, or a file cannot be read or written";

/// Reads the command line and does what it says.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and end with 0, mistakes to standard error
            // with 2. Nobody is left to tell if that fails.
            let plain = error.render().to_string();
            // What was typed is quoted, and a terminal must not obey it.
            if plain.contains(is_hidden) {
                Notes::stderr().line(with_hidden_shown(&plain).trim_end());
            } else {
                let _ = error.print();
            }
            return if error.use_stderr() { Exit::Unusable.into() } else { Exit::Done.into() };
        }
    };
    if cli.command.runs_commands() {
        // What they run could read them in the environment that we were started with.
        let _ = sabir_host::secrets::withdraw();
    }
    if let Command::Lsp { stdio: _ } = cli.command {
        // The language server owns both streams and has exit codes of its own.
        return lsp::serve();
    }
    // Those that share both streams with others, and have exit codes of their own.
    let command = match cli.command {
        Command::Sandbox(args) => return args.run(),
        Command::Run(args) => return args.run(&mut Notes::stderr()),
        Command::Resume(args) => return args.run(&mut Notes::stderr()),
        Command::Fork(args) => return args.run(&mut Notes::stderr()),
        Command::Proto(args) => return args.run(&mut Notes::stderr()),
        Command::Up(args) => return args.run(&mut Notes::stderr()),
        Command::Delegate(args) => return args.run(&mut Notes::stderr()),
        Command::Acp(args) => return args.run(&mut Notes::stderr()),
        Command::Mcp(args) => return args.run(&mut Notes::stderr()),
        command => command,
    };
    let mut output = Output::stdout();
    let mut notes = Notes::stderr();
    let done = command.run(&mut output, &mut notes).and_then(|exit| {
        std::io::Write::flush(&mut output)?;
        Ok(exit)
    });
    match done {
        Ok(exit) => exit.into(),
        Err(error) => {
            notes.error(error);
            Exit::Unusable.into()
        }
    }
}

impl Command {
    /// Whether programs are started that are not to know our secrets.
    fn runs_commands(&self) -> bool {
        matches!(
            self,
            Command::Run(_)
                | Command::Resume(_)
                | Command::Fork(_)
                | Command::Proto(_)
                | Command::Acp(_)
                | Command::Mcp(_)
                | Command::Sandbox(_)
                | Command::Up(_)
                | Command::Delegate(_)
                | Command::Delegates(_)
                | Command::Capture(_)
                | Command::Ask(_)
                | Command::Transform(_)
                | Command::Summarize(_)
                | Command::Extract(_)
                | Command::Llmx(LlmxCommand::Run(_))
        )
    }

    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            Command::Axon(command) => command.run(output, notes),
            Command::Llmx(command) => command.run(output, notes),
            Command::Llmcp(LlmcpCommand::Check(args)) => args.run(output, notes),
            Command::Convert(args) => args.run(output, notes),
            Command::Tokens(args) => args.run(output, notes),
            Command::Patch(args) => args.run(output, notes),
            Command::Explain(args) => args.run(output, notes),
            Command::Collection(command) => command.run(output, notes),
            Command::Capture(args) => args.run(output, notes),
            Command::Ask(args) => args.run(output, notes),
            Command::Transform(args) => args.run(output, notes),
            Command::Share(args) => args.run(output, notes),
            Command::Search(args) => args.run(output, notes),
            Command::Summarize(args) => args.run(output, notes),
            Command::Extract(args) => args.run(output, notes),
            Command::Render(args) => args.run(output),
            Command::Card(args) => args.run(output, notes),
            Command::Delegates(command) => command.run(output, notes),
            Command::Domain(command) => command.run(output, notes),
            Command::Keys(args) => args.run(output, notes),
            Command::Sessions(args) => args.run(output, notes),
            Command::Replay(args) => args.run(output, notes),
            Command::Log(args) => args.run(output, notes),
            Command::Audit(command) => command.run(output, notes),
            Command::Policy(command) => command.run(output, notes),
            Command::Config(command) => command.run(output, notes),
            Command::Doctor(args) => args.run(output),
            // These have been run before.
            Command::Lsp { .. }
            | Command::Sandbox(_)
            | Command::Run(_)
            | Command::Resume(_)
            | Command::Fork(_)
            | Command::Proto(_)
            | Command::Up(_)
            | Command::Delegate(_)
            | Command::Acp(_)
            | Command::Mcp(_) => Ok(Exit::Done),
            Command::Completions { shell } => generate::completions(shell, Cli::command(), output),
            Command::Man { dir } => generate::manual(dir.as_deref(), Cli::command(), output),
        }
    }
}

impl AxonCommand {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            AxonCommand::Check(args) => args.run(output, notes),
            AxonCommand::Fmt(args) => args.run(output, notes),
            AxonCommand::Ast(args) => args.run(output, notes),
            AxonCommand::Repair(args) => args.run(output, notes),
            AxonCommand::Json(args) => args.run(output, notes),
            AxonCommand::Grammar(args) => args.run(output),
        }
    }
}

impl LlmxCommand {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            LlmxCommand::Check(args) => args.run(output, notes),
            LlmxCommand::Fmt(args) => args.run(output, notes),
            LlmxCommand::Json(args) => args.run(output, notes),
            LlmxCommand::Reply(args) => args.run(output),
            LlmxCommand::Run(args) => args.run(output, notes),
            LlmxCommand::Grammar(args) => args.run(output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn who_knows_nothing_is_told_where_to_begin() {
        let help = Cli::command().render_help().to_string();
        for line in ["sabir doctor", "sabir up", "sabir collection example", "sabir help COMMAND"] {
            assert!(help.contains(&format!("\n  {line} ")), "{line}: {help}");
        }
    }

    #[test]
    fn every_command_shows_examples() {
        fn walk(command: &clap::Command) {
            for inner in command.get_subcommands() {
                walk(inner);
            }
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            if !command.has_subcommands() {
                assert!(help.contains("Examples:"), "{} has no examples", command.get_name());
            }
            // Longer ones are broken, and cannot be copied any more.
            for line in help.lines().filter(|line| line.starts_with("  ")) {
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
        }
        walk(&Cli::command());
    }
}
