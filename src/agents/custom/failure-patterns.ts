import type { Category } from '../../domain/run/outcome.ts'

/** One thing that programs print before the reason: a mark, a colour, a time, a level, their own name or that of an exception. */
export const decoration = `^(?:${[
  String.raw`\x1b\[[\d;?]*[a-z]`,
  String.raw`\[[^\]]*\]\s*`,
  String.raw`\d{4}-\d\d-\d\d[t ][\d:.,]+(?:z|[+-][\d:]+)?\s+`,
  String.raw`\d\d?:\d\d[\d:.,]*\s+`,
  String.raw`\(\d+\)\s*`,
  String.raw`(?:error|err|fatal|warning|warn|failed|failure|exception|critical|panic)\b[\s:!-]*`,
  String.raw`[\w.$/-]+:\s+`,
  String.raw`[^\w\s]+\s*`,
  String.raw`\s+`,
].join('|')})`
/** The fields in which services put the reason, as JSON or as Python prints it. */
export const reasonField = String.raw`["'](?:message|error|type|code|status|reason|detail|title)["']\s*:\s*["']?`

/** Elsewhere than where a statement begins, the same words are about something else. */
const beginning = (...words: readonly string[]) => `^(?:${words.join('|')})`

const lead = String.raw`(?:(?:the|api|client|server|provider|upstream|service|model|requested|unexpected|request|response|url|error|returned|answered|responded|failed|refused|with|from|http|status|code|an?)\b[\s:=("'-]*)`
/** A status of HTTP, where words or signs say that it is one: a number alone may count anything. */
const status = (numbers: string, words: string): readonly string[] => [
  String.raw`${lead}*(?:http(?:/[\d.]+)?|status(?:[ _-]?code)?|code)\b[\s:=("']*(?:${numbers})\b`,
  String.raw`${lead}+(?:${numbers})(?:\s*$|\s*[^\w\s]|\s+(?:${words}|error|client|server|for|from|response|status|\())`,
  String.raw`(?:${numbers})[\s:-]+(?:${words}|error|client error|server error|\{)`,
]
const exception = (names: string) => String.raw`[\w.]*(?:${names})\w*(?:error|exception|exceeded)\b`
const subject = String.raw`(?:(?:your|the|this|our|api|requests?|tokens?|model|models|provider|account|organi[sz]ation|openai|anthropic|google|gemini|claude|ai|codex|is|are|was|has|been|currently|temporarily|selected|daily|weekly|monthly|free|tier)\b(?:'s)?\s+)*`

/** How somebody says that a limit is used up, with or without when it ends. */
const limit = beginning(
  ...status('429', 'too|rate|resource|quota'),
  String.raw`${subject}rate[ _-]?limit(?:ed\b|_error|_exceeded|s?\b.*\b(?:exceeded|reached|hit|error|again)\b|[:.!]?\s*$|:)`,
  'too many requests',
  String.raw`${subject}(?:usage|spend(?:ing)?|session|plan|message|token|hourly|daily|weekly|monthly|\d+[- ]hour)\s+(?:limit|quota|cap)\b.*\b(?:reached|exceeded|hit|exhausted|used|resets?|again)\b`,
  String.raw`(?:sorry, )?you(?:['’]ve| have)? (?:hit|reached|exceeded|exhausted|used(?: up)?|run out of) (?:your|the|all) .*\b(?:limit|quota|usage|requests)\b`,
  `${subject}quota (?:has been |was |is )?(?:exceeded|exhausted|reached|used up)`,
  `resource[_ ](?:has been )?exhausted`,
  String.raw`${subject}(?:throttled|throttling)\b`,
  exception('ratelimit|toomanyrequests|throttling|resourceexhausted|quotaexceeded'),
)

const billing = beginning(
  `${subject}credit balance (?:is )?too low`,
  `insufficient[_ ](?:credits?|balance|funds|quota)`,
  'payment required',
  ...status('402', 'payment|insufficient'),
)

const overload = beginning(
  ...status('503|529', 'service|overloaded|site|temporarily'),
  String.raw`${subject}overloaded(?:_error)?\b`,
  String.raw`${subject}(?:at|over) capacity\b`,
  `${subject}service (?:is )?(?:temporarily )?unavailable`,
  `${subject}experiencing high (?:demand|load)`,
  exception('overloaded|serviceunavailable'),
)

const login = beginning(
  ...status('401|403', 'unauthori[sz]ed|forbidden|authentication|invalid|permission'),
  String.raw`${subject}unauthori[sz]ed\b`,
  String.raw`(?:invalid_api_key|authentication_error|permission_error)\b`,
  `${subject}authentication (?:has )?(?:failed|error|(?:is )?required)`,
  String.raw`(?:invalid|incorrect|missing|expired|no|wrong|revoked)\s+(?:\w+\s+)?(?:api[ _-]?key|(?:auth|access|oauth)\w* token|credentials?)\b`,
  `${subject}api[ _-]?key (?:is |was |has )?(?:not |invalid|missing|required|expired|incorrect)`,
  String.raw`(?:please set |set |missing )?(?:the )?(?:environment variable )?\w+_(?:api_key|token)\b.*\b(?:not|missing|required|unset|undefined)\b`,
  String.raw`(?:you(?:'re| are) )?not (?:logged|signed) in\b`,
  String.raw`(?:you must|you need to|please) (?:be |re-?)?(?:log|sign|logged|signed)[ -]?in\b`,
  'please run .*(?:log ?in|auth)',
  `(?:login|log-in|sign-in) (?:is )?(?:required|expired|failed)`,
  `${subject}(?:session|token|login|credentials?) (?:has |have |is |are )?(?:expired|invalid|revoked)`,
  exception('authentication|unauthori[sz]ed|permissiondenied|invalidapikey'),
)

const context = beginning(
  ...status('413', 'payload|request|content|too'),
  'context_length_exceeded',
  `${subject}maximum context length`,
  String.raw`${subject}context (?:length|window|size|limit)\b.*\b(?:exceed(?:s|ed)?|full|overflow|too)\b`,
  String.raw`${subject}(?:prompt|input|conversation|messages?|request)s? (?:is |are |was )?(?:too (?:long|large)\b|(?:length )?exceeds?\b.*\b(?:context|tokens?|maximum)\b)`,
  `${subject}input token count`,
  String.raw`.*\bexceeds? (?:the |this |its )?(?:model(?:'s)? )?(?:maximum )?context\b`,
  exception('contextwindow|contextlength|contextoverflow'),
)

const connection = beginning(
  String.raw`(?:(?:type)?error: |connect |read |write |getaddrinfo |request to \S+ failed, reason: )*(?:econn(?:refused|reset|aborted)|enotfound|eai_again|etimedout|enetunreach|ehostunreach|und_err_\w+)\b`,
  'fetch failed|socket hang up|getaddrinfo|dial tcp|max retries exceeded|error sending request|httpsconnectionpool',
  `${subject}network (?:error|is unreachable|request failed)`,
  `${subject}connection (?:was |attempt )?(?:refused|reset|timed out|error|aborted|closed|failed|lost)`,
  String.raw`(?:could not|couldn't|cannot|can't|unable to|failed to) (?:resolve|connect|reach|look ?up)\b`,
  'temporary failure in name resolution|name or service not known|nodename nor servname|no route to host|no such host',
  `dns (?:error|lookup|resolution)`,
  String.raw`(?:tls|ssl)\b.*\bhandshake`,
  `(?:post|get) "?https?://.*(?:dial tcp|timeout|refused|no such host|eof)`,
)
const broken = beginning(
  ...status('408|500|502|504', 'internal|bad|gateway|request'),
  'bad gateway|gateway time-?out|internal server error|request timed out',
  exception(
    'apiconnection|apitimeout|connectionerror|connecttimeout|readtimeout|newconnection|gai|clientconnector|internalserver',
  ),
)

/** What the end of a failed run says of its cause. Of one line the first pattern that fits counts. */
export const usualFailures: readonly (readonly [Category, string])[] = [
  ['context_overflow', context],
  ['auth_failed', billing],
  ['usage_limit', limit],
  ['overloaded', overload],
  ['auth_failed', login],
  ['network', connection],
  ['network', broken],
]
