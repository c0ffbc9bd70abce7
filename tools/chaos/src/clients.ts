/** The clients: each starts one run, reads it as the seed says, and does what no client should. */
import { setTimeout as wait } from "node:timers/promises"
import { drawOf } from "../../eval/src/seeds.ts"
import type { Draw } from "../../soak/src/Draw.ts"
import { inputOf } from "./replies.ts"

export const customers = { ada: "the-token-of-ada-who-buys", bob: "the-token-of-bob-who-buys" } as const
export type Customer = keyof typeof customers
export const deciding = "the-token-of-those-who-decide"

/** The variables with which the backend knows them. */
export const env = {
  CUSTOMER_TOKENS: Object.entries(customers)
    .map(([name, token]) => `${name}=${token}`)
    .join(","),
  APPROVAL_TOKEN: deciding
}

/** What a request came to. Without a status there was no answer, or none to its end. */
export interface Answer {
  readonly status: number | undefined
  readonly body: string
}

/** What a client has learnt of its run, and what it should not have been able to do. */
export interface Learnt {
  readonly run: string
  readonly customer: Customer
  /** Whether some server has said that it has the run. */
  isAccepted: boolean
  /** Whether it has asked for the end of its run. */
  hasStopped: boolean
  /** Requests that should have been refused, and were not as they should. */
  readonly breaches: Array<string>
}

interface Sending {
  readonly method?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Leaves after so many bytes of the answer. */
  readonly leaveAfter?: number
  readonly signal: AbortSignal
}

export const send = async (
  url: string,
  { body, headers = {}, leaveAfter, method = "GET", signal, token }: Sending
): Promise<Answer> => {
  const leaving = new AbortController()
  let [status, said]: [number | undefined, string] = [undefined, ""]
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: AbortSignal.any([signal, leaving.signal, AbortSignal.timeout(90_000)])
    })
    status = response.status
    const decoder = new TextDecoder()
    for await (const part of response.body ?? []) {
      said += decoder.decode(part, { stream: true })
      if (leaveAfter !== undefined && said.length >= leaveAfter) leaving.abort()
    }
    return { status, body: said }
  } catch {
    // where the answer has no end, its status is not known, unless the client itself has left
    return { status: leaving.signal.aborted ? status : undefined, body: said }
  }
}

const requestOf = (draw: Draw): string =>
  draw.pick(
    "what is order A-17?",
    "what is order Z-99?",
    `refund ${draw.int(1, 4000)} of order A-17`,
    `refund ${draw.int(5001, 9000)} of order B-4`,
    `refund ${draw.int(5001, 9000)} of order B-4`
  )

/** The statuses with which each hostile request is to be refused. A server that is ending or has no database may answer otherwise. */
const excused = new Set([undefined, 500, 503])

/** Plays the client of one run. */
export const play = async (
  seed: number,
  nth: number,
  urls: ReadonlyArray<string>,
  signal: AbortSignal
): Promise<Learnt> => {
  const draw = drawOf(seed, "client", nth)
  const customer = draw.pick("ada", "bob")
  const learnt: Learnt = { run: `r${nth}`, customer, isAccepted: false, hasStopped: false, breaches: [] }
  const { run } = learnt
  const token = customers[customer]
  const server = () => urls[draw.int(0, urls.length - 1)] ?? ""
  const body = { input: inputOf(run, requestOf(draw)), run }
  const hear = ({ body: said, status }: Answer) => {
    // a run that has failed has a code; a refusal has none
    const isOfRun = status !== undefined && (status < 300 || /"code":"KINTSUGI-(?!BUG)/.test(said))
    if (isOfRun || said.includes(`"runId"`)) learnt.isAccepted = true
    return status !== undefined && status < 500
  }
  const leaveAfter = draw.maybe(0.3, () => draw.int(1, 3000))
  const path = draw.pick("/runs", "/runs/stream", "/runs/stream")
  for (let tries = 0; tries < 20 && !signal.aborted; tries++) {
    const sending = { method: "POST", token, body, signal, ...(leaveAfter === undefined ? {} : { leaveAfter }) }
    if (hear(await send(`${server()}${path}`, sending)) || learnt.isAccepted) break
    await wait(300)
  }
  await misbehave(learnt, { draw, server, signal })
  return learnt
}

interface Playing {
  readonly draw: Draw
  readonly server: () => string
  readonly signal: AbortSignal
}

/** Sends what should be refused, and what may come at any time: a message to the run, its end, another reader. */
const misbehave = async (learnt: Learnt, { draw, server, signal }: Playing): Promise<void> => {
  const { breaches, customer, run } = learnt
  const token = customers[customer]
  const stranger = customers[customer === "ada" ? "bob" : "ada"]
  const decisions = [{ digest: "none", decision: { type: "approve" } }]
  const refused = async (
    what: string,
    statuses: ReadonlyArray<number>,
    path: string,
    sending: Omit<Sending, "signal">
  ) => {
    const { body, status } = await send(`${server()}${path}`, { ...sending, signal })
    if (!excused.has(status) && !statuses.includes(status ?? 0)) {
      breaches.push(`${run}: ${what} is answered with ${status}: ${body.slice(0, 200)}`)
    }
  }
  const post = { method: "POST", token }
  const acts: ReadonlyArray<() => Promise<unknown>> = [
    () => refused("a reader of another customer", [404], `/runs/${run}`, { token: stranger }),
    () => refused("the end by another customer", [404], `/runs/${run}`, { method: "DELETE", token: stranger }),
    () => refused("a bad cursor", [404, 422], `/runs/${run}/events?after=${draw.int(0, 99)}.nonsense`, { token }),
    () => refused("a body of a megabyte", [413], "/runs", { ...post, body: { input: "x".repeat(2 ** 20) } }),
    () => refused("a body that is no JSON", [400, 422], "/runs", { ...post, body: '{"input": ' }),
    () => refused("an id of a path", [404, 422], `/runs/..%2f${run}`, { token }),
    () => refused("a decision by a customer", [401], `/approvals/${run}/decisions`, { ...post, body: { decisions } }),
    () => refused("a request without a token", [401], `/runs/${run}`, {}),
    () => send(`${server()}/runs/${run}/messages`, { ...post, body: { message: "Hurry up." }, signal }),
    () => {
      learnt.hasStopped = true
      return send(`${server()}/runs/${run}`, { method: "DELETE", token, signal })
    },
    () => send(`${server()}/runs/${run}/events`, { token, leaveAfter: draw.int(1, 5000), signal })
  ]
  for (const act of acts) if (draw.chance(0.15)) await act()
}
