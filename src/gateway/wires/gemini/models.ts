// What differs between Google's models; a request that oversteps it is refused as a whole.

/** From the third generation on they name efforts, want signatures back with calls, take images in results, and JSON beside tools. */
export const isThird = (model: string) => /gemini-(?:[3-9]|\d{2})/.test(model)

export const takesThinking = (model: string) => !/gemini-(?:1|2\.0)|gemma/.test(model)

/** In tokens. The least is the highest of those that the models of one generation have. */
export const leastBudget = 512
export const mostBudget = (model: string) => (/flash/.test(model) ? 24_576 : 32_768)
