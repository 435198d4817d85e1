import type { z } from 'zod'
import { checkProgram } from '../shared/program-options.ts'
import type { CustomOptions } from './options.ts'

/** What no single option shows: those that need each other, and those that contradict each other. */
export function checkOptions(options: CustomOptions, refuse: z.RefinementCtx): void {
  const say = (path: string, message: string) => refuse.addIssue({ code: 'custom', path: [path], message })
  if (options.command[0] === '') say('command', 'the program has no name')
  checkProgram(options, refuse)
  checkModel(options, say)
  checkPrompt(options, say)
  checkOutput(options, say)
  checkSystemPrompt(options, say)
  checkSessions(options, say)
  const { mcp, homeFiles = {} } = options
  if (mcp && (mcp.flag === undefined) === (mcp.path === undefined))
    say('mcp', 'mcp needs either flag, which names the file, or path, where the program looks for it')
  if (mcp?.path !== undefined && Object.hasOwn(homeFiles, mcp.path)) say('mcp', `${mcp.path} is one of homeFiles; name it once`)
  if (options.versionPattern !== undefined && !options.versionArgs)
    say('versionPattern', 'versionPattern is used with versionArgs only')
  if ([options.modelFlag, options.modelArg || undefined].filter((way) => way !== undefined).length > 1)
    say('modelArg', 'the model is given by modelFlag or as an argument, not both')
}

function checkModel({ wire, wireKeys, keys, baseUrlPath, modelPrefix, baseUrlVariable }: CustomOptions, say: Say): void {
  if (wireKeys && wire === undefined) say('wireKeys', 'wireKeys says which keys are for wire; name wire')
  if (wireKeys?.some((key) => !keys.includes(key))) say('wireKeys', 'each of wireKeys must be one of keys')
  if (baseUrlPath !== undefined && wire === undefined) say('baseUrlPath', 'baseUrlPath is used with wire only')
  if (modelPrefix !== undefined && baseUrlVariable === undefined)
    say('modelPrefix', 'modelPrefix is used with baseUrlVariable only')
}

type Say = (path: string, message: string) => void

function checkPrompt({ prompt, promptFlag }: CustomOptions, say: Say): void {
  if (prompt === 'flag' && !promptFlag) say('promptFlag', 'prompt: flag needs promptFlag, like --prompt')
  if (prompt !== 'flag' && prompt !== 'file' && promptFlag)
    say('promptFlag', 'promptFlag is used with prompt: flag and prompt: file only')
}

function checkOutput({ output, map, sessionId }: CustomOptions, say: Say): void {
  if (output === 'text' && map) say('map', 'map is used with output: json or output: jsonl only')
  if (output === 'json' && map?.result) say('map', 'map.result is for output: jsonl; name map.text instead')
  if (output === 'jsonl' && !map?.text && !map?.result)
    say('map', 'output: jsonl needs map.text or map.result, which say where the answer lies in a line')
  if (map?.textWhere && !map.text) say('map', 'map.textWhere says when map.text counts; name map.text')
  if (map?.partialWhere && !map.partial) say('map', 'map.partialWhere says when map.partial counts; name map.partial')
  if (output === 'json' && map?.partial) say('map', 'map.partial is for output: jsonl, which is read while the program writes')
  if (map?.session && sessionId) say('sessionId', 'the id is found by map.session or by sessionId, not both')
  if (output !== 'text' && sessionId?.stream === 'stdout')
    say('sessionId', `with output: ${output} an id on stdout is named by map.session`)
}

function checkSystemPrompt(
  { systemPromptVia: via, systemPromptFlag: flag, systemPromptPath: path }: CustomOptions,
  say: Say,
): void {
  if (via === 'flag' && !flag) say('systemPromptFlag', 'systemPromptVia: flag needs systemPromptFlag, like --system-prompt')
  if (via === 'prefix' && flag) say('systemPromptFlag', 'systemPromptVia: prefix takes no flag')
  if (via === 'file' && (flag === undefined) === (path === undefined))
    say('systemPromptVia', 'systemPromptVia: file needs either systemPromptFlag, which names the file, or systemPromptPath')
  if (via !== 'file' && path !== undefined) say('systemPromptPath', 'systemPromptPath is used with systemPromptVia: file only')
}

function checkSessions({ resume, sessionFiles, sessionId, map, missingSession }: CustomOptions, say: Say): void {
  if (resume && !resume.some(namesSession))
    say('resume', 'one of the arguments must hold {session}, which stands for the id of the conversation')
  if (resume && !sessionId && !map?.session)
    say('resume', 'resume needs sessionId or map.session, which say where an id is found')
  if (sessionFiles && !sessionFiles.every(namesSession))
    say('sessionFiles', 'each must hold {session}, which stands for the id of the conversation')
  if (sessionFiles && !resume) say('sessionFiles', 'sessionFiles are used with resume only')
  if (missingSession !== undefined && !resume) say('missingSession', 'missingSession is used with resume only')
}

const namesSession = (text: string) => text.includes('{session}')
