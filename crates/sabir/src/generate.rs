//! What is generated from the command line's own description: completions and manual pages.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use crate::cli::Shell;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn completions(
    shell: Shell,
    mut command: clap::Command,
    output: &mut Output,
) -> anyhow::Result<Exit> {
    let generator = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    // Into memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(generator, &mut command, "sabir", &mut script);
    output.write_all(&script)?;
    Ok(Exit::Done)
}

/// Prints the page of the program, or writes the pages of all commands into `dir`.
pub(crate) fn manual(
    dir: Option<&Path>,
    command: clap::Command,
    output: &mut Output,
) -> anyhow::Result<Exit> {
    match dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(command, dir))
                .with_context(|| format!("{}: cannot be written", dir.display()))?;
        }
        None => clap_mangen::Man::new(command).render(output)?,
    }
    Ok(Exit::Done)
}
