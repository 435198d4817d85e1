import { asCommand } from './preset.ts'

export const goose = asCommand({
  name: 'goose',
  title: 'goose',
  options: {
    command: 'goose',
    baseArgs: ['run', '--instructions', '-', '--quiet', '--no-session'],
    modelFlag: '--model',
    // With the key of another maker it asks that maker itself. It puts the version behind the address, which must end like a folder.
    wire: 'openai-chat',
    wireKeys: ['OPENAI_API_KEY'],
    baseUrlVariable: 'OPENAI_HOST',
    baseUrlPath: '/',
    systemPromptFlag: '--system',
    versionArgs: ['--version'],
  },
  // Nobody is there to be asked, and there is no keyring behind walls. Its provider is for its user to name: env: [GOOSE_PROVIDER=…].
  env: { GOOSE_MODE: 'auto', GOOSE_DISABLE_KEYRING: '1' },
  keys: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY', 'OPENROUTER_API_KEY'],
  install: 'curl -fsSL https://github.com/block/goose/releases/download/stable/download_cli.sh | CONFIGURE=false bash',
  docs: 'https://block.github.io/goose/docs/guides/goose-cli-commands',
  tried: 'untried',
})
