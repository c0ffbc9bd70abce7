/**
 * The work that all rows share: a model in the same process asks for one addition per turn, and answers in words in the last. The
 * arguments come as JSON text and are checked against a schema, strictly; the result of the tool goes back as JSON text.
 */

export const prompt = "Add."
export const input = "1 + 2?"
export const answer = "3"
export const description = "Adds two numbers."

/** The arguments of each call. */
export const args = '{"a":1,"b":2}'

/** The same with one number as a text that no coercion takes for a number. */
export const badArgs = '{"a":1,"b":"two"}'

export const usage = { inputTokens: 10, outputTokens: 5 }
