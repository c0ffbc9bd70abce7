/** Which messages of a conversation have to stay when its oldest part goes. */
import type * as Message from "../data/Message.ts"

interface Long {
  readonly transcript: Message.Transcript
  readonly input?: Message.User
}

/** The places of the messages that go, in order. `isHeaded`: a reply that would be the first of all goes too. */
export const droppedIn = ({ input, transcript }: Long, keepLast: number, isHeaded: boolean): ReadonlySet<number> => {
  const lastUser = transcript.findLastIndex(({ role }) => role === "user")
  const talk = [...transcript.keys()].filter((index) => transcript[index]?.role !== "system")
  const young = new Set(talk.slice(Math.max(0, talk.length - keepLast)))
  const isKept = (index: number) => young.has(index) || index === lastUser || isAsked(transcript[index], input)
  const firstUser = talk.find((index) => transcript[index]?.role === "user" && isKept(index))
  const isOrphan = (index: number) => isHeaded && firstUser !== undefined && index < firstUser
  return new Set(talk.filter((index) => !isKept(index) || isOrphan(index)))
}

/** What was read back from a snapshot is another object, and says the same. */
const isAsked = (message: Message.Message | undefined, input: Message.User | undefined): boolean =>
  input !== undefined &&
  message?.role === "user" &&
  (message === input || JSON.stringify(message) === JSON.stringify(input))
