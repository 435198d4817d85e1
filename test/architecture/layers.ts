import type { Layers } from './imports.ts'

/** The rooms of each folder of `src`, the lowest first; `.` is the files that lie loose in it. A room imports only rooms before it. */
export const layers: Record<string, Layers> = {
  agents: [
    'port.ts',
    'shared',
    'acp',
    ['claude-code', 'codex', 'gemini-cli', 'opencode', 'a2a', 'ollama', 'custom', 'demo', 'presets'],
    'index.ts',
  ],
  sandbox: ['process', 'files', 'egress', '.', ['bubblewrap', 'none'], 'index.ts'],
  daemon: ['machine', 'doctor', '.'],
  store: ['migrations', 'embedded', '.', 'backup', 'transfer'],
  surfaces: ['.', ['http', 'mcp', 'a2a', 'acp']],
}
