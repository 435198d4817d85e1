/** What begins like a command would be carried out by the program itself, and the model would never hear of it. */
export const shielded = (prompt: string): string => (/^\s*[/$]/.test(prompt) ? `The message is:\n\n${prompt}` : prompt)
