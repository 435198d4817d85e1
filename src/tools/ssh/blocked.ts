import { compileFilePattern } from '../../bounded/file-pattern.ts'
import { PawlError } from '../../domain/error.ts'
import { compileRules, defaultPathRules } from '../files/path-rules.ts'

/** What is refused at every level and in every mode, with the end of the sentence "it …". */
export function blockedBecause(program: string, rest: readonly string[], line: string): string | undefined {
  return blocks.find(({ fits }) => fits(program, rest, line))?.why
}

/** Is this a file that holds somebody's keys or passwords? */
export function holdsSecrets(path: string): boolean {
  const names = path.split('/').filter((name) => name !== '')
  return rules.isBlocked(names, path) || secretPlaces.test(path) || mayMean(path)
}

const secretPlaces =
  /^\/(etc\/g?shadow-?|etc\/sudoers(\.d\/.*)?|proc\/([^/]+|self|thread-self)\/(environ|mem|maps)|dev\/(mem|kmem|port))$/
const examples = [
  ...['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '/etc/ssh/ssh_host_ed25519_key', '/proc/1/environ', '/proc/self/environ'],
  ...['/root/.ssh/id_rsa', '/home/user/.ssh/id_ed25519', '~/.ssh/id_ed25519'],
]

/** A word that the shell there fills in from the names that it finds: could one of these be among them? */
function mayMean(word: string): boolean {
  if (!/[*?[{]/.test(word) || !/^[/~]/.test(word)) return false
  try {
    return examples.some(compileFilePattern(word))
  } catch (error) {
    if (error instanceof PawlError) return true
    throw error
  }
}

const rules = compileRules({
  ...defaultPathRules,
  blocked: [
    ...defaultPathRules.blocked.filter((name) => !['.git', '.hg', '.svn'].includes(name)),
    'ssh_host_*_key',
    'authorized_keys*',
  ],
})

const of = (...programs: string[]) => new Set(programs)
const disks = of(
  'mkfs',
  'wipefs',
  'fdisk',
  'sfdisk',
  'parted',
  'gdisk',
  'cfdisk',
  'blkdiscard',
  'mkswap',
  'cryptsetup',
  'lvremove',
  'vgremove',
  'pvremove',
  'zpool',
  'mdadm',
)
const accounts = of(
  'passwd',
  'chpasswd',
  'useradd',
  'adduser',
  'usermod',
  'visudo',
  'vipw',
  'chage',
  'ssh-keygen',
  'ssh-copy-id',
  'ssh-add',
)
const onward = of('ssh', 'scp', 'sftp', 'rsync', 'telnet', 'nc', 'ncat', 'netcat', 'socat', 'ftp', 'tftp', 'lftp')
const kernel = of(
  'insmod',
  'modprobe',
  'rmmod',
  'kexec',
  'sysctl',
  'setenforce',
  'nsenter',
  'chroot',
  'unshare',
  'capsh',
  'gdb',
  'strace',
  'debugfs',
)
const hosts = of(
  'su',
  'runuser',
  'machinectl',
  'at',
  'batch',
  'screen',
  'tmux',
  'script',
  'expect',
  'parallel',
  'watch',
  'busybox',
  'toybox',
)
const traces = of('history', 'auditctl', 'chattr')
const shells = /^(ba|da|z|k|a|fi|c|tc)?sh$/
const interpreters = /^(python|perl|ruby|node|php|lua)[\d.]*$/
const wholePlaces =
  /^(\/|\/\*|~|~\/|~\/\*|\*|\.|\.\.|\/(bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var)(\/?|\/\*))$/

interface Block {
  readonly why: string
  fits(program: string, rest: readonly string[], line: string): boolean
}

const blocks: readonly Block[] = [
  { why: 'would destroy a disk or what lies on it', fits: (program) => disks.has(program) || program.startsWith('mkfs.') },
  {
    why: 'would write to a device',
    fits: (program, rest) => program === 'dd' && rest.some((word) => word.startsWith('of=/dev/')),
  },
  {
    why: 'would take away or open up a whole part of the system',
    fits: (program, rest) =>
      ['rm', 'chmod', 'chown', 'chgrp', 'mv', 'shred', 'find'].includes(program) &&
      rest.some((word) => wholePlaces.test(word)) &&
      (program !== 'find' || rest.includes('-delete')) &&
      (program !== 'mv' || rest.indexOf(rest.find((word) => wholePlaces.test(word))!) < rest.length - 1),
  },
  {
    why: 'would change who may get in',
    fits: (program, rest) => accounts.has(program) || rest.some((word) => /(^|\/)(authorized_keys|sudoers)/.test(word)),
  },
  { why: 'would go on to another machine', fits: (program) => onward.has(program) },
  { why: 'would reach into the kernel or other processes', fits: (program) => kernel.has(program) },
  { why: 'would wipe out traces', fits: (program) => traces.has(program) },
  { why: 'would multiply itself without end', fits: (_, __, line) => line.replaceAll(/\s/g, '').includes(':|:&') },
  {
    why: 'would run what it has just fetched or unpacked',
    fits: (program, rest, line) =>
      (shells.test(program) || interpreters.test(program)) && /[|<]/.test(line) && !rest.some((word) => !word.startsWith('-')),
  },
  {
    why: 'holds a text that only the other machine would read as commands',
    fits: (program, rest) =>
      hosts.has(program) ||
      program === 'eval' ||
      program === 'source' ||
      program === '.' ||
      (interpreters.test(program) && rest.some((word) => /^-[a-zA-Z]*[ecr]$/.test(word))),
  },
  {
    why: 'is about a file that holds keys or passwords',
    fits: (_, rest) => rest.some((word) => holdsSecrets(word.replace(/^[^=]*=/, '')) || holdsSecrets(word)),
  },
]
