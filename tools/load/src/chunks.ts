/** Streamed chat completions, as a model server writes them. */

export const chunk = (delta: object, end: string | null = null, more: object = {}): string => {
  const choices = [{ index: 0, delta, finish_reason: end }]
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "load" }
  return `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`
}

/** The last chunks of a reply: why it ends, and what it has used. */
export const ending = (finish: string, usage: object): string =>
  `${chunk({}, finish)}${chunk({}, null, { choices: [], usage })}data: [DONE]\n\n`
