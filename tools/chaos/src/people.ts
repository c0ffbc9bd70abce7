/** The people who decide about refunds: some decide twice, for another customer, or never. */
import { setTimeout as wait } from "node:timers/promises"
import { drawOf } from "../../eval/src/seeds.ts"
import { type Answer, type Customer, deciding, type Learnt, send } from "./clients.ts"

const other: Readonly<Record<Customer, Customer>> = { ada: "bob", bob: "ada" }

/** The digests of what a run waits for, in the answer of the backend. */
export const digestsIn = (body: string): ReadonlyArray<string> => {
  const found = /"_tag":"Waiting"/.test(body) ? body.matchAll(/"digest":"([^"]+)"/g) : []
  return [...new Set([...found].map(([, digest = ""]) => digest))]
}

/** Whether a decision was taken: the answer is that of the run, which goes on. */
const isTaken = ({ status }: Answer): boolean => status !== undefined && status < 300

/** Decides about one run, once it waits; returns what should not have been possible. */
export const decide = async (
  seed: number,
  { customer, run }: Pick<Learnt, "customer" | "run">,
  urls: ReadonlyArray<string>,
  signal: AbortSignal
): Promise<ReadonlyArray<string>> => {
  const draw = drawOf(seed, "person", run)
  const server = () => urls[draw.int(0, urls.length - 1)] ?? ""
  const as = (name: Customer) => ({ token: deciding, headers: { "on-behalf-of": name }, signal })
  const breaches: Array<string> = []
  if (draw.chance(0.1)) return breaches
  for (let tries = 0; tries < 10 && !signal.aborted; tries++) {
    const shown = await send(`${server()}/approvals/${run}`, as(customer))
    const digests = digestsIn(shown.body)
    const [digest] = digests
    if (digest === undefined) {
      if (shown.status === 200) return breaches
      await wait(1000)
      continue
    }
    const answer = (type: "approve" | "refuse", name: Customer) =>
      send(`${server()}/approvals/${run}/decisions`, {
        ...as(name),
        method: "POST",
        body: { decisions: [{ digest, decision: type === "approve" ? { type } : { type, reason: "no" } }] }
      })
    if (draw.chance(0.3)) {
      const foreign = await answer("approve", other[customer])
      if (isTaken(foreign)) breaches.push(`${run}: a decision for another customer was taken`)
    }
    const type = draw.chance(0.75) ? "approve" : "refuse"
    if (draw.chance(0.3)) {
      const both = await Promise.all([answer("approve", customer), answer("refuse", customer)])
      if (both.every(isTaken)) breaches.push(`${run}: two decisions about one call were taken`)
    } else await answer(type, customer)
  }
  return breaches
}
