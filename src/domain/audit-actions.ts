// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

/** Every act of control there is in the audit. */
export const auditActions = [
  'task.create',
  'task.cancel',
  'task.retry',
  'question.answer',
  'session.adopt',
  'user.create',
  'user.change',
  'user.remove',
  'token.create',
  'token.revoke',
  'sign_in.code',
  'sign_in',
  'sign_out',
  'secret.set',
  'secret.remove',
  'secret.rekey',
  'profile.change',
  'trust.add',
  'trust.remove',
  'quarantine.restore',
  'workspace.remove',
  'agents.stop_all',
  'agents.resume',
  'daemon.stop',
  'ssh',
  'denied',
] as const
export type AuditAction = (typeof auditActions)[number]
