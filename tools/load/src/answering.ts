/** Answers what the generator asks a process over its channel. */

export interface Ask {
  readonly id: number
  readonly ask: string
  readonly about?: unknown
}

export interface Answer {
  readonly id: number
  readonly answer: unknown
}

type Answers = Readonly<Record<string, (about: unknown) => unknown>>

/** What has no answer here is asked of another module of this process. */
export const answering = (answers: Answers): void => {
  process.on("message", async ({ about, ask, id }: Ask) => {
    const answer = answers[ask]
    if (answer !== undefined) process.send?.({ id, answer: await answer(about) } satisfies Answer)
  })
}
