/**
 * The first program inside the walls when there is a door to open, as source text: inside there is no file of ours.
 * Arguments: `door` or `plain`, then the agent's file and arguments.
 *
 * It listens on the loopback of the walls, hands the listener out over Node's IPC channel, waits for the answer and becomes the agent.
 * It never touches stdin, so what was written there is read by the agent. Node marks the descriptors it opens as close-on-exec but
 * not all those it was given, so these are closed here. Node also ignores SIGPIPE and SIGXFSZ, which an agent's shell would inherit; what
 * is handled, and not ignored, is as it was at first in the program that is executed next.
 */
export const initSource = String.raw`
const [mode, file, ...args] = process.argv.slice(1)
const env = {}
for (const [name, value] of Object.entries(process.env)) if (name.startsWith('PAWL_KEPT_')) env[name.slice(10)] = value
function become() {
  const fs = require('node:fs')
  for (const name of fs.readdirSync('/proc/self/fd')) {
    const fd = Number(name)
    if (fd < 3) continue
    let info = ''
    try { info = fs.readFileSync('/proc/self/fdinfo/' + fd, 'latin1') } catch { continue }
    const flags = /^flags:\s*([0-7]+)/m.exec(info)
    if (flags && !(parseInt(flags[1], 8) & 0o2000000)) fs.closeSync(fd)
  }
  for (const signal of ['SIGPIPE', 'SIGXFSZ']) process.on(signal, () => {})
  process.execve(file, [file, ...args], env)
}
if (mode === 'plain') {
  become()
} else {
  // Whoever started us may be dead: then nothing must start. While a handle is under way Node does not emit "disconnect".
  setInterval(() => process.connected || process.exit(1), 50)
  process.once('message', become)
  const server = require('node:net').createServer()
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    const url = 'http://127.0.0.1:' + port
    for (const name of Object.keys(env)) env[name] = env[name].replaceAll('{{PAWL_DOOR_URL}}', url)
    args.forEach((arg, i) => { args[i] = arg.replaceAll('{{PAWL_DOOR_URL}}', url) })
    env.PAWL_DOOR_URL = url
    process.send({ port }, server, (error) => error && process.exit(1))
  })
}
`

/**
 * What the agent is given is for the agent alone. Under this name it travels past the shell and our init, which would obey some of it: what is to be loaded
 * into every program, where settings lie, what to run first.
 */
export const keptName = (name: string) => `PAWL_KEPT_${name}`

/** Does the shell that goes before the agent, or the loader of programs itself, obey a variable of this name? Then only our init can carry it past. */
export const isObeyedEarly = (name: string) =>
  /^(LD_|GLIBC_|MALLOC_|BASH|DYLD_)/.test(name) || ['ENV', 'SHELLOPTS', 'PS4', 'GCONV_PATH', 'LOCPATH', 'NLSPATH'].includes(name)

/** Descriptors of the outermost process; none of them reaches the agent. */
export const fds = { channel: 3, args: 4, seccomp: 5, user: 6, network: 7 } as const
