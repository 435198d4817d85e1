import type { Profile, ProfileLimits, ProfileName } from './profile.ts'

// Without the schema library on purpose: see profile.ts.

const limits: ProfileLimits = {
  processes: 512,
  openFiles: 4_096,
  memoryMb: 4_096,
  fileMb: 1_024,
  diskMb: 10_240,
  outputMb: 256,
}

/**
 * What installing and fetching by https takes, and no more: where packages and the programs they bring are kept, and where code is hosted.
 * Each is a place that anybody may publish to, so this list keeps an agent from strangers' hosts, not from strangers' packages.
 */
const registries = [
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'jsr.io',
  'npm.jsr.io',
  'nodejs.org',
  'pypi.org',
  'files.pythonhosted.org',
  'crates.io',
  'index.crates.io',
  'static.crates.io',
  'static.rust-lang.org',
  'proxy.golang.org',
  'sum.golang.org',
  'go.dev',
  'dl.google.com',
  'rubygems.org',
  'index.rubygems.org',
  'repo.maven.apache.org',
  'repo1.maven.org',
  'plugins.gradle.org',
  'services.gradle.org',
  'packagist.org',
  'repo.packagist.org',
  'api.nuget.org',
  'hex.pm',
  'repo.hex.pm',
  'deb.debian.org',
  'security.debian.org',
  'archive.ubuntu.com',
  'security.ubuntu.com',
  'dl-cdn.alpinelinux.org',
]
const codeHosts = [
  'github.com',
  'api.github.com',
  'codeload.github.com',
  'raw.githubusercontent.com',
  'objects.githubusercontent.com',
  'release-assets.githubusercontent.com',
  'gitlab.com',
  'bitbucket.org',
  'codeberg.org',
]

/** What a program asks for to be let out of its walls. The profile has decided about them; no run decides anew. */
const widening = 'request_permissions'

const none: Omit<Profile, 'name' | 'base'> = {
  walls: true,
  rules: { allow: [], ask: [], deny: [widening] },
  otherwise: 'allow',
  tools: { native: true, disabled: [] },
  mounts: [],
  network: { allow: [], ask: [], deny: [] },
  env: { pass: [], set: {} },
  secrets: [],
  limits,
  skills: ['*'],
  subagents: ['*'],
  instructions: true,
  trusted: [],
  nestedNamespaces: false,
}

const guarded: Profile = {
  ...none,
  name: 'guarded',
  base: 'guarded',
  // Inside the walls an agent may do what it likes: rules are for what reaches beyond them, and that is a matter of taste.
  network: { allow: [...registries, ...codeHosts], ask: [], deny: [] },
}

/** The profiles that are always there, whole. */
export const builtinProfiles: Readonly<Record<ProfileName, Profile>> = {
  strict: {
    ...none,
    name: 'strict',
    base: 'strict',
    rules: {
      allow: ['Read', 'ReadDocument', 'Glob', 'Grep', 'LS', 'Write', 'Plan', 'AskUserQuestion'],
      ask: ['Bash', 'WebFetch'],
      deny: [widening],
    },
    otherwise: 'ask',
    tools: { native: false, disabled: ['WebSearch'] },
    skills: [],
    subagents: [],
    mcpServers: [],
    instructions: false,
  },
  guarded,
  // As wide as guarded; but a profile that extends it may name repositories whose own configuration counts.
  'trusted-repo': { ...guarded, name: 'trusted-repo', base: 'trusted-repo' },
  'unattended-open': {
    ...none,
    name: 'unattended-open',
    base: 'unattended-open',
    walls: false,
    rules: { allow: [], ask: [], deny: [] },
    network: { allow: ['*'], ask: [], deny: [] },
    nestedNamespaces: true,
  },
}
