import { asCommand } from './preset.ts'

export const copilot = asCommand({
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  options: {
    command: 'copilot',
    baseArgs: ['-s', '--allow-all-tools', '--no-ask-user'],
    prompt: 'flag',
    promptFlag: '-p',
    modelFlag: '--model',
    // It asks GitHub for its model, unless it has the key of a provider of one's own.
    wire: 'openai-chat',
    wireKeys: ['COPILOT_PROVIDER_API_KEY'],
    baseUrlVariable: 'COPILOT_PROVIDER_BASE_URL',
    systemPromptVia: 'prefix',
    hosts: ['api.github.com:443', '*.githubcopilot.com:443'],
    versionArgs: ['--version'],
  },
  keys: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
  install: 'npm install -g @github/copilot',
  docs: 'https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-programmatic-reference',
  tried: 'untried',
})
