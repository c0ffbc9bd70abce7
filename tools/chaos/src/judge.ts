/** The invariants, held against what the database, the model server, the processes and the clients know. */
import type { Entry } from "./diary.ts"
import type { Seen } from "./evidence.ts"
import type { Asked } from "./modelServer.ts"
import { isSound } from "./replies.ts"
import type { Cutting, Lifetime } from "./lifetime.ts"
import { repliesIn } from "./usage.ts"

/** What a process has written down. */
export type Noted = Entry & { readonly process: string }

export interface Evidence {
  readonly runs: ReadonlyArray<Seen>
  readonly clients: ReadonlyArray<{
    readonly run: string
    readonly isAccepted: boolean
    readonly hasStopped: boolean
    readonly breaches: ReadonlyArray<string>
  }>
  readonly asked: ReadonlyArray<Asked>
  readonly noted: ReadonlyArray<Noted>
  readonly lifetimes: ReadonlyArray<Pick<Lifetime, "process" | "slot" | "sent" | "ended" | "begun">>
  readonly cuttings: ReadonlyArray<Cutting>
}

/** A reply that was read to its end and is in no ledger, and why. */
export interface CutOff {
  readonly id: string
  readonly process: string
  readonly by: "SIGKILL" | "SIGTERM" | "database" | "client"
}

export interface Books {
  /** Sound replies that a process has read to their end. */
  readonly read: number
  /** Those of them that a ledger has, and those that a kill or an outage of the database has cut off. */
  readonly booked: number
  readonly cutOff: ReadonlyArray<CutOff>
  readonly faults: ReadonlyArray<string>
}

/** Each accepted run has ended, or waits for a person, with each call settled. */
export const orphans = ({ clients, runs }: Evidence): ReadonlyArray<string> => {
  const stored = new Set(runs.map(({ run }) => run))
  return [
    ...clients
      .filter(({ isAccepted, run }) => isAccepted && !stored.has(run))
      .map(({ run }) => `${run} was accepted, and is gone`),
    ...runs
      .filter(({ state }) => state === "unfinished")
      .map(({ run }) => `${run} has not ended, and waits for no person`),
    ...runs
      .filter(({ unsettled }) => unsettled !== 0)
      .map(({ run, unsettled }) => `${run} has ${unsettled} calls without a settlement`),
    ...runs
      .filter(({ ends, state }) => (state === "answered" || state === "failed" || state === "stopped") && ends !== 1)
      .map(({ ends, run }) => `${run} is over, and its events have ${ends} ends`)
  ]
}

/** A run is stopped by its client alone: an end of a process, or an outage, ends no run. */
export const stray = ({ clients, runs }: Evidence): ReadonlyArray<string> => {
  const stopped = new Set(clients.filter(({ hasStopped }) => hasStopped).map(({ run }) => run))
  return runs
    .filter(({ run, state }) => state === "stopped" && !stopped.has(run))
    .map(({ run }) => `${run} is stopped, and its client has not stopped it`)
}

/** An unsafe tool runs at most once per key, and once more for each `verify` that has found nothing. */
export const repeated = ({ noted }: Evidence): ReadonlyArray<string> => {
  const counts = new Map<string, { pays: number; missed: number }>()
  for (const entry of noted) {
    if (entry.type === "read") continue
    const count = counts.get(entry.key) ?? { pays: 0, missed: 0 }
    if (entry.type === "pays") count.pays++
    else if (!entry.found) count.missed++
    counts.set(entry.key, count)
  }
  return [...counts]
    .filter(([, { missed, pays }]) => pays > 1 + missed)
    .map(
      ([key, { missed, pays }]) => `the refund ${key} began ${pays} times, and was looked up in vain ${missed} times`
    )
}

/**
 * How long before and after a reading of a reply an outage of the database may cut it off. A process that cannot renew its locks goes on for
 * most of a minute; what it has read then counts no more, because another process has taken its runs.
 */
const outage = { before: 35_000, after: 60_000 }

const byRun = (runs: ReadonlyArray<Seen>): ReadonlyMap<string, Seen> => new Map(runs.map((one) => [one.run, one]))

/** Why a reply that was read may be in no ledger: the end of its process, an outage of the database, both or neither. */
const reasonsOf = (reads: ReadonlyArray<Noted>, { cuttings, lifetimes }: Evidence): ReadonlyArray<CutOff["by"]> =>
  reads.flatMap(({ at, process }): ReadonlyArray<CutOff["by"]> => {
    const lifetime = lifetimes.find((one) => one.process === process)
    const { ended, sent } = lifetime ?? {}
    const isEnd = ended !== undefined && ended.at >= at && ended.at - at <= outage.after
    const isOut = cuttings.some(
      (one) =>
        one.link === "database" &&
        one.slot === lifetime?.slot &&
        one.at >= at - outage.before &&
        one.at <= at + outage.after
    )
    return [...(isEnd ? (sent ?? []).slice(-1) : []), ...(isOut ? (["database"] as const) : [])]
  })

/**
 * The end of a process that had the run shortly before. What it had read last may have been stored when the next process of the run was
 * asking for the same reply, and then one of the two replies counts.
 */
const takenFrom = (
  { at, process }: Noted,
  ofRun: ReadonlyArray<Noted>,
  { lifetimes }: Evidence
): Pick<CutOff, "process" | "by"> | undefined => {
  for (const before of ofRun) {
    if (before.process === process || before.at > at) continue
    const lifetime = lifetimes.find((one) => one.process === before.process)
    const by = lifetime?.sent.at(-1)
    if (lifetime?.ended === undefined || by === undefined) continue
    if (lifetime.ended.at >= before.at && Math.abs(at - lifetime.ended.at) <= outage.after)
      return { process: before.process, by }
  }
  return undefined
}

/** Each reply that was read to its end is booked once, or was cut off; a process that ends cuts off one reply of a run at most. */
export const booksOf = (evidence: Evidence): Books => {
  const runs = byRun(evidence.runs)
  const faults: Array<string> = []
  const booked = new Map<string, number>()
  for (const { booked: entries, run } of evidence.runs) {
    for (const usage of entries) {
      const replies = repliesIn(usage)
      if (replies === undefined) faults.push(`${run} has booked ${usage}, which is the usage of no replies`)
      for (const nth of replies ?? []) booked.set(`${run}/${nth}`, (booked.get(`${run}/${nth}`) ?? 0) + 1)
    }
  }
  const stoppers = new Set(evidence.clients.filter(({ hasStopped }) => hasStopped).map(({ run }) => run))
  const asked = new Map(evidence.asked.map((one) => [one.id, one]))
  for (const [id, count] of booked) {
    if (count > 1) faults.push(`${id} is booked ${count} times`)
    if (!asked.has(id)) faults.push(`${id} is booked, and was never asked for`)
  }
  const allReads = evidence.noted.filter((one) => one.type === "read")
  const reads = Map.groupBy(allReads, ({ id }) => id)
  const ofRuns = Map.groupBy(allReads, ({ id }) => id.split("/")[0] ?? "")
  const [cutOff, ofProcess]: [Array<CutOff>, Set<string>] = [[], new Set()]
  let [read, found] = [0, 0]
  for (const { id, kind, run } of evidence.asked) {
    const readers = reads.get(id)
    if (readers === undefined || !isSound(kind)) continue
    read++
    if (booked.has(id)) {
      found++
      continue
    }
    const isStopped = runs.get(run)?.state === "stopped" && stoppers.has(run)
    const [reader] = readers
    if (reader === undefined) continue
    const pairOf = (process: string) => `${process} has cut off more than one reply of ${run}`
    const reasons = isStopped ? (["client"] as const) : reasonsOf(readers, evidence)
    // an end cuts off one reply of a run: what was read before it may have been lost to the database
    const own = reasons.find((one) => !one.startsWith("SIG") || !ofProcess.has(pairOf(reader.process))) ?? reasons[0]
    const cut =
      own === undefined ? takenFrom(reader, ofRuns.get(run) ?? [], evidence) : { process: reader.process, by: own }
    if (cut === undefined) {
      faults.push(
        `${id} was read by ${reader.process}, is not booked by ${run} (${runs.get(run)?.state}), and nothing has cut it off`
      )
      continue
    }
    const { by, process } = cut
    cutOff.push({ id, ...cut })
    const pair = pairOf(process)
    if (!by.startsWith("SIG")) continue
    if (ofProcess.has(pair)) faults.push(pair)
    ofProcess.add(pair)
  }
  if (found + cutOff.length !== read && faults.length === 0)
    faults.push(`${found} and ${cutOff.length} are not ${read}`)
  return { read, booked: found, cutOff, faults }
}

/** A process ends by the signal that it was sent, and only then. One without a database may not start. */
export const strayEnds = ({ cuttings, lifetimes }: Evidence): ReadonlyArray<string> =>
  lifetimes.flatMap(({ begun, ended, process, sent, slot }) => {
    if (ended === undefined) return []
    // one that was asked to end may be killed before it has
    if (sent.some((signal) => ended.how === (signal === "SIGKILL" ? signal : 0))) return []
    const couldNotStart =
      ended.at - begun < 30_000 && cuttings.some((one) => one.slot === slot && one.at >= begun && one.at <= ended.at)
    if (sent.length === 0 && ended.how === 1 && couldNotStart) return []
    return [`${process} was sent ${sent.length === 0 ? "no signal" : sent.join(" and ")}, and ended with ${ended.how}`]
  })

export const breaches = ({ clients }: Evidence): ReadonlyArray<string> => clients.flatMap((one) => one.breaches)
