/** Before the tests: what they need from the system is installed where we may, and named where we may not. */
import { execFileSync, spawnSync } from 'node:child_process'

const needed = [
  { program: 'bwrap', package: 'bubblewrap', why: 'the walls around agents' },
  { program: 'git', package: 'git', why: 'what a run changed' },
  { program: 'ssh', package: 'openssh-client', why: 'the tools for other machines' },
  { program: 'sshd', package: 'openssh-server', why: 'another machine to try them on' },
  { program: 'chromium', package: 'chromium', why: 'the page' },
  { program: 'tmux', package: 'tmux', why: 'what is drawn on a terminal' },
  { program: 'zsh', package: 'zsh', why: 'its completion' },
  { program: 'fish', package: 'fish', why: 'its completion' },
  { program: 'unshare', package: 'util-linux', why: 'the bundled database as root' },
]

// Servers lie where only root's search path leads.
const path = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`
const isThere = (program: string) =>
  spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { env: { ...process.env, PATH: path } }).status === 0
const missing = needed.filter(({ program }) => !isThere(program))
if (missing.length > 0) {
  const packages = missing.map((item) => item.package)
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    console.error(`Installing for the tests: ${packages.join(' ')}`)
    execFileSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 'inherit'] })
    execFileSync('apt-get', ['install', '-y', '-qq', ...packages], { stdio: ['ignore', 'ignore', 'inherit'] })
  } else {
    for (const item of missing)
      console.error(
        `The tests need ${item.program} (package ${item.package}) for ${item.why}; install it, for example: sudo apt-get install ${item.package}`,
      )
    process.exit(1)
  }
}
