import { epochSeconds, type Failure, type FailureKind, failureHeaders, type Refusal, secondsUntil } from '../reply.ts'

/** How OpenAI refuses, the same for Responses and Chat Completions. */
export function openaiRefusal(failure: Failure): Refusal {
  const [status, type, code, message] = refusals[failure.kind]
  return {
    status: failure.status ?? status,
    headers: { ...limitHeaders(failure), ...failureHeaders(failure) },
    body: {
      error: { message: failure.message ?? message, type: failure.type ?? type, param: null, code, ...limitFields(failure) },
    },
  }
}

const refusals: Record<FailureKind, [status: number, type: string, code: string | null, message: string]> = {
  'rate-limit': [429, 'requests', 'rate_limit_exceeded', 'Rate limit reached for scripted-model. Please try again in 1s.'],
  'usage-limit': [429, 'usage_limit_reached', null, 'The usage limit has been reached'],
  auth: [401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.'],
  forbidden: [403, 'invalid_request_error', 'unsupported_country_region_territory', 'You are not allowed to use this model.'],
  'not-found': [
    404,
    'invalid_request_error',
    'model_not_found',
    'The model scripted-model does not exist or you do not have access to it.',
  ],
  'context-overflow': [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  credit: [
    429,
    'insufficient_quota',
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
  ],
  'server-error': [500, 'server_error', null, 'The server had an error while processing your request.'],
  overloaded: [503, 'server_error', 'server_is_overloaded', 'The engine is currently overloaded, please try again later.'],
}

/** What a ChatGPT plan that is used up adds to the error; Codex reads the time from here. */
function limitFields(failure: Failure) {
  if (failure.kind !== 'usage-limit' || !failure.resetsAt) return {}
  return { plan_type: 'plus', resets_at: epochSeconds(failure.resetsAt), resets_in_seconds: secondsUntil(failure.resetsAt) }
}

function limitHeaders(failure: Failure): Record<string, string> {
  if (failure.kind !== 'usage-limit' || !failure.resetsAt) return {}
  return {
    'x-codex-plan-type': 'plus',
    'x-codex-primary-used-percent': '100',
    'x-codex-primary-window-minutes': '300',
    'x-codex-primary-reset-after-seconds': String(secondsUntil(failure.resetsAt)),
    'x-codex-primary-reset-at': String(epochSeconds(failure.resetsAt)),
  }
}
