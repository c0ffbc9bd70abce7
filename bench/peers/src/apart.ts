/**
 * Subjects in processes of their own, one for each library. No program has six of them: in one process each pays for the garbage of
 * the others, and the compiler sees the same functions used in as many ways. They take turns all the same, so that only one works at a
 * time, and what else the machine does slows down all alike.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Sample, Subject } from "../../src/harness.ts"
import type { Order } from "./peer.ts"

const script = fileURLToPath(new URL("subject.ts", import.meta.url))

/** Does something with subjects, and stops their processes. A process that dies ends the comparison. */
export const apart = async <A>(
  orders: ReadonlyArray<Order>,
  body: (subjects: ReadonlyArray<Subject>) => Promise<A>
): Promise<A> => {
  const stop = new AbortController()
  const children = orders.map(() => fork(script, { execArgv: process.execArgv }))
  const died = Promise.race(
    children.map(async (child, i) => {
      const [code, signal] = await once(child, "exit", { signal: stop.signal })
      throw new Error(`${orders[i]?.name}: its process ended with ${signal ?? code}`)
    })
  )
  // an `ask` that waits rejects with it; without one, the rejection has no reader
  died.catch(() => {})
  try {
    const subjects = await Promise.all(
      orders.map(async (order, i): Promise<Subject> => {
        const child = children[i]
        if (child === undefined) throw new TypeError("a process for each order")
        const ask = async (message: Order | "portion") => {
          const answer = once(child, "message")
          child.send(message)
          return (await Promise.race([answer, died]))[0]
        }
        await ask(order)
        return { name: order.name, portion: async (): Promise<Sample> => await ask("portion") }
      })
    )
    return await body(subjects)
  } finally {
    stop.abort()
    for (const child of children) child.kill()
  }
}
