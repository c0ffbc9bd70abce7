/** What clients and the model say. Each run has a number, by which all processes know it. */

export const orderId = "A-17"

/** What only the tool knows: with it in the request, the model answers. */
export const item = "a lamp"

export const inputOf = (run: number): string => `Run ${run}: what is order ${orderId}?`

/** The number of the run that a request belongs to. */
export const runOf = (body: string): number => Number(/Run (\d+):/.exec(body)?.[1])

/** The answer of a run, which no other run has. */
export const answerOf = (run: number): string =>
  `Order ${orderId} is ${item}, for which you have paid 49 euros. It left our store on Monday, and a person has to sign for it ` +
  `when it comes. This is the answer to question ${run}.`

/** The answer as a model streams it: one word after the other. */
export const piecesOf = (text: string): ReadonlyArray<string> => text.match(/\S+\s*/g) ?? []
