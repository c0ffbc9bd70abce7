/**
 * The largest causes of a figure, as a profile of one subject of a row shows them.
 *
 *   npm run bench -- happy --causes=ours               of the time on the processor
 *   npm run bench -- happy --causes=ours --bytes       of what is allocated
 *   npm run bench -- happy --causes=ours --functions   by function
 *   npm run bench -- holding --causes --bytes          of what 10,000 runs hold while they wait at a tool
 *   node scripts/launch.mjs bench/src/atOnce.ts ours 10000 --causes
 *
 * A sample counts for the file of this library that is nearest on the stack: what Effect and Node do for a file counts for that file.
 * Without such a file it counts for the file of Effect or Node.
 */
import { Session } from "node:inspector/promises"

interface Frame {
  readonly functionName: string
  readonly url: string
}

/** Something on the stack: how much it takes by itself, and what it calls. */
interface Node {
  readonly callFrame: Frame
  readonly self: number
  readonly children: ReadonlyArray<Node>
}

const most = 10

/** The subject that `--causes` names, if it is one of these. */
export const wanted = <A extends { readonly name: string }>(subjects: ReadonlyArray<A>): A | undefined => {
  const name = process.argv.find((one) => one.startsWith("--causes="))?.slice("--causes=".length)
  if (name === undefined) return undefined
  const found = subjects.find((one) => one.name === name)
  if (found === undefined) {
    throw new TypeError(`--causes names one of ${subjects.map((one) => `'${one.name}'`).join(", ")}`)
  }
  return found
}

/** Does work that is compiled already, and prints what takes the most of it. With `--bytes` and `isHeld`, only what is still held counts. */
export const printCauses = async (name: string, work: () => Promise<unknown>, isHeld = false): Promise<void> => {
  const isBytes = process.argv.includes("--bytes")
  const session = new Session()
  session.connect()
  const root = isBytes ? await bytesIn(session, work, isHeld) : await timeIn(session, work)
  session.disconnect()
  const sums = new Map<string, number>()
  add(sums, root, undefined)
  const all = [...sums].toSorted(([, a], [, b]) => b - a)
  const total = all.reduce((sum, [, self]) => sum + self, 0)
  process.stdout.write(
    `\n${name}: ${isBytes ? `${(total / 2 ** 20).toFixed(0)} MiB` : `${(total / 1000).toFixed(0)} ms`}\n`
  )
  for (const [cause, self] of all.slice(0, most)) {
    process.stdout.write(`  ${((100 * self) / total).toFixed(1).padStart(5)} %  ${cause}\n`)
  }
}

const timeIn = async (session: Session, work: () => Promise<unknown>): Promise<Node> => {
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: 200 })
  await session.post("Profiler.start")
  await work()
  const { profile } = await session.post("Profiler.stop")
  const { nodes, samples = [], timeDeltas = [] } = profile
  const self = new Map<number, number>()
  for (const [at, id] of samples.entries()) self.set(id, (self.get(id) ?? 0) + (timeDeltas[at] ?? 0))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const nodeOf = (id: number): Node => {
    const node = byId.get(id)
    if (node === undefined) throw new Error("a profile has all of its nodes")
    const { callFrame, children = [] } = node
    const isWork = callFrame.functionName !== "(idle)" && callFrame.url !== "node:inspector"
    return { callFrame, self: isWork ? (self.get(id) ?? 0) : 0, children: children.map(nodeOf) }
  }
  return nodeOf(nodes[0]?.id ?? 0)
}

const bytesIn = async (session: Session, work: () => Promise<unknown>, isHeld: boolean): Promise<Node> => {
  await session.post("HeapProfiler.startSampling", {
    samplingInterval: 2048,
    includeObjectsCollectedByMajorGC: !isHeld,
    includeObjectsCollectedByMinorGC: !isHeld
  })
  await work()
  const { profile } = await session.post("HeapProfiler.stopSampling")
  const nodeOf = ({ callFrame, children, selfSize }: typeof profile.head): Node => ({
    callFrame,
    self: selfSize,
    children: children.map(nodeOf)
  })
  return nodeOf(profile.head)
}

const add = (sums: Map<string, number>, { callFrame, children, self }: Node, caller: string | undefined): void => {
  const name = causeOf(callFrame, caller)
  if (self > 0) {
    const cause = name ?? titleOf(callFrame)
    sums.set(cause, (sums.get(cause) ?? 0) + self)
  }
  for (const child of children) add(sums, child, name)
}

const byFunction = process.argv.includes("--functions")

/** The file of this library on the stack, or the one that has called this frame. */
const causeOf = ({ functionName, url }: Frame, caller: string | undefined): string | undefined => {
  const file = /packages\/(\w+\/src\/.*)\.ts$/.exec(url)?.[1]?.replace("/src/", "/")
  if (file === undefined) return functionName === "runLoop" ? undefined : caller
  return byFunction ? `${file} ${functionName}` : file
}

const titleOf = ({ functionName, url }: Frame): string => {
  const file = url.replace(/.*\/node_modules\/|.*(?=\/bench\/src\/)/, "")
  return url === "" || byFunction ? `${functionName} ${file}` : file
}
