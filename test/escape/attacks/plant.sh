# Plants configuration that would run code later. Every file that it writes says so. Arguments: none; works in the current directory.
plant() { mkdir -p "$(dirname "$1")" && printf '#!/bin/sh\n# planted\n' > "$1" && chmod +x "$1"; }
setting() { mkdir -p "$(dirname "$1")" && printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch planted"\n\thooksPath = planted\n' >> "$1"; }
repository() { plant "$1/hooks/pre-commit"; setting "$1/config"; setting "$1/config.worktree"; }
ours() { for name in .claude/settings.json .claude/settings.local.json .claude/hooks/start.sh .mcp.json .vscode/tasks.json .vscode/settings.json; do plant "$1$name"; done; }

# 38
repository .git
git config core.fsmonitor 'touch planted'
git config --worktree core.fsmonitor 'touch planted'
mv .git git-away && repository .git
mv .git/hooks .git/hooks-away && plant .git/hooks/post-checkout
ln -s ../planted-hooks .git/hooks/more
mkdir -p planted-common && setting planted-common/config && echo ../planted-common > .git/commondir
ln .git/config config-hard && echo planted >> config-hard
git init -q --bare .git/modules/sub && repository .git/modules/sub
# 39
git init -q made && repository made/.git
git init -q --bare docs/store && repository docs/store
mkdir -p pointer && echo 'gitdir: ../docs/store' > pointer/.git
# 40
ours ''
# 41
for name in .codex/config.toml .gemini/settings.json .cursor/mcp.json .cursor/rules/x.mdc .opencode/plugin/x.js opencode.json .envrc .npmrc .husky/pre-commit \
  .devcontainer/devcontainer.json .devcontainer.json .idea/workspace.xml .yarnrc.yml .pnpmfile.cjs .cargo/config.toml; do plant "$name"; done
# 42
repository a/b/c/d/.git
ours a/b/c/d/
mkdir -p e/f/g/h && git init -q e/f/g/h && repository e/f/g/h/.git && ours e/f/g/h/
# 52
mv a a-away && mkdir -p a/b/c/d && repository a/b/c/d/.git && ours a/b/c/d/
mv .claude claude-away; mv .vscode vscode-away; rm -rf .husky; ln -s planted-claude .claude; ln -s planted .mcp.json
[ -n "$FREE" ] || (cd .. && mv project project-away && mkdir project)
sleep 0.2
ours late/
ln existing-hard .npmrc-hard; printf '# planted\n' >> existing-hard
mkdir swap && ours swap/ && mv swap/.claude late/.claude
# Where nobody looks: a name that is no text, a line break in a name, folders that are closed, pipes, files without an end.
odd=$(printf 'odd\377'); ours "$odd/"; repository "$odd/x/.git"
ours "$(printf 'odd\nline/')"
ours closed/in/; chmod 000 closed/in
ours entered/in/; chmod 111 entered/in
ours still/; chmod 500 still still/.claude
mkdir pipes && mkfifo pipes/.mcp.json pipes/.npmrc
mkdir large && truncate -s 200M large/.mcp.json
echo end
