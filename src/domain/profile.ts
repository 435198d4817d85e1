// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

/** The walls a run may be given by name. From the narrowest to the widest: a project that is not trusted may only move left. */
export const profileNames = ['strict', 'guarded', 'trusted-repo', 'unattended-open'] as const
export type ProfileName = (typeof profileNames)[number]
