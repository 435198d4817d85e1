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
    systemPromptVia: 'prefix',
    hosts: ['api.github.com:443', '*.githubcopilot.com:443'],
    versionArgs: ['--version'],
  },
  keys: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
  install: 'npm install -g @github/copilot',
  docs: 'https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-programmatic-reference',
  tried: 'untried',
})
