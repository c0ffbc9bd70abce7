/**
 * The view of a policy: when each attempt begins, and its bounds. All attempts fail at once; the waits are the shortest and the longest.
 * The bounds are those of all layers together. `make` takes the `Recovery.explain` of each layer; `PolicyText`, `PolicySvg` and
 * `PolicyPage` show it.
 */
import * as Explanation from "@kintsugi/core/Explanation"
import * as Duration from "effect/Duration"

/** The stacks of layers of a policy or of an agent, with their bounds. */
export interface View {
  readonly title: string
  readonly stacks: ReadonlyArray<Stack>
  /** The bounds of one run of an agent. The bounds of turns and of calls are absent for an agent without a loop. */
  readonly run?: Explanation.RunBounds & Partial<Explanation.RunExplanation["worst"]>
}

// Private types are aliases and not interfaces: TypeScript writes an alias out in the declarations of a program, and cannot name a private
// interface there.

/** A stack of layers around the same work, outermost first. */
type Stack = {
  readonly title: string
  readonly layers: readonly [Explanation.TimelineLayer, ...Array<Explanation.TimelineLayer>]
  /** The timeline in which every wait is as short as chance allows. */
  readonly best: Explanation.Timeline
  /** The timeline in which every wait is as long as chance allows. */
  readonly worst: Explanation.Timeline
  /** The attempts of the innermost layer, in order. Each begins between its times in `best` and in `worst`. */
  readonly attempts: ReadonlyArray<Attempt>
  readonly bounds: StackBounds
}

/** An attempt of the innermost layer. Its times are in milliseconds after the beginning of the first attempt. */
type Attempt = {
  /** The number of the attempt in each layer, outermost first. */
  readonly path: ReadonlyArray<number>
  readonly earliest: number
  readonly latest: number
}

/** The worst case of all layers together, for failures of any rows in any order. */
type StackBounds = {
  /** How many requests each layer makes by itself, outermost first. The product is `requests`. */
  readonly factors: ReadonlyArray<number>
  /** How many times the innermost work runs. */
  readonly requests: number
  readonly fixerRuns: number
  readonly modelCalls: number
  /** The sum of the waits in milliseconds. It is infinite if a layer is only bounded by caps of one call. */
  readonly waits: number
  /** The sum of waits and timeouts in milliseconds, if servers ask for the longest waits that the policies grant. */
  readonly time: number
}

/** The options of the views. */
interface Options {
  /** The most attempts of the innermost layer that the view has; 1,000 by default. */
  readonly maxAttempts?: number
  /** The row that meets the failures, in each table that has it; by default the row with the most attempts. */
  readonly row?: string
}

/**
 * Plays nested policies as one stack. Their explanations come outermost first. The view has the attempts, with every wait as short and as
 * long as it may be, and the bounds of all together. Throws a `RangeError` for a row that a layer does not have.
 */
export const make = (
  layers: readonly [Explanation.TimelineLayer, ...Array<Explanation.TimelineLayer>],
  options: Options & { readonly title?: string } = {}
): View => {
  const title = options.title ?? layers.map(({ name }) => name).join(" › ")
  return { title, stacks: [stackOf(title, layers, options)] }
}

/**
 * Makes the view of all layers of an agent, from its `Agent.explain`. `inner` has the layers between its model and its requests, outermost
 * first. `together` joins them into the `transport` that `Agent.explain` and `Agent.bounds` take.
 */
export const ofRun = (
  title: string,
  run: Explanation.RunExplanation,
  options: Options & { readonly inner?: ReadonlyArray<Explanation.TimelineLayer> } = {}
): View => {
  const { model, routing, tools, worst } = run
  const { inner = [] } = options
  const isShown = ({ rows }: Explanation.Explanation): boolean => rows.length + inner.length > 0
  const asked = (name: string, explanation: Explanation.Explanation | undefined): ReadonlyArray<Stack> =>
    explanation === undefined || !isShown(explanation)
      ? []
      : [stackOf(name, [{ name, explanation }, ...inner], options, boundsAround(explanation, inner))]
  return {
    title,
    stacks: [
      ...asked("routing", routing),
      ...asked("model", model),
      ...[...tools]
        .filter(([, { rows }]) => rows.length > 0)
        .map(([name, explanation]) => stackOf(`tool ${name}`, [{ name, explanation }], options))
    ],
    run: worst
  }
}

/** Makes the view of a composition of agents, from its `Agent.bounds`. A composition has no waits of its own, so there is no timeline. */
export const ofBounds = (title: string, bounds: Explanation.RunBounds): View => ({ title, stacks: [], run: bounds })

const stackOf = (
  title: string,
  [first, ...rest]: readonly [Explanation.TimelineLayer, ...Array<Explanation.TimelineLayer>],
  { maxAttempts = 1000, row }: Options,
  bounds = boundsOf([first, ...rest])
): Stack => {
  const meeting = (layer: Explanation.TimelineLayer): Explanation.TimelineLayer =>
    row !== undefined && layer.explanation.rows.some(({ key }) => key === row) ? { ...layer, row } : layer
  const layers = [meeting(first), ...rest.map(meeting)] as const
  const best = Explanation.timeline(layers, { maxAttempts, waits: "least" })
  const worst = Explanation.timeline(layers, { maxAttempts, waits: "most" })
  return { title, layers, best, worst, attempts: attemptsOf(best, worst), bounds }
}

/** The bounds of a stack: each attempt of a layer may make all attempts of the layers inside of it. */
const boundsOf = (layers: readonly [Explanation.TimelineLayer, ...Array<Explanation.TimelineLayer>]): StackBounds => {
  const [first, ...rest] = layers.toReversed()
  return rest.reduce((inner, { explanation }) => around(explanation.worst, inner), single(first ?? layers[0]))
}

const single = ({ explanation: { worst } }: Explanation.TimelineLayer): StackBounds => ({
  factors: [worst.requests],
  requests: worst.requests,
  fixerRuns: worst.fixerRuns,
  modelCalls: worst.modelCalls,
  waits: Duration.toMillis(worst.waits),
  time: Duration.toMillis(worst.time)
})

const around = (worst: Explanation.Explanation["worst"], inner: StackBounds): StackBounds => {
  const { fixerRuns, modelCalls, requests, time, waits } = worst
  return {
    factors: [requests, ...inner.factors],
    requests: requests * inner.requests,
    fixerRuns: fixerRuns + requests * inner.fixerRuns,
    modelCalls: modelCalls + requests * inner.modelCalls,
    waits: Duration.toMillis(waits) + requests * inner.waits,
    time: Duration.toMillis(time) + requests * inner.time
  }
}

/** Joins layers into one with the same bounds. It is the `transport` that `Agent.explain` and `Agent.bounds` take. */
export const together = (
  layers: readonly [Explanation.TimelineLayer, ...Array<Explanation.TimelineLayer>]
): Explanation.Explanation => {
  const { fixerRuns, modelCalls, requests, time, waits } = boundsOf(layers)
  return {
    rows: [],
    worst: {
      attempts: requests,
      requests,
      fixerRuns,
      modelCalls,
      waits: Duration.millis(waits),
      time: Duration.millis(time)
    }
  }
}

/** The bounds of a layer whose explanation already includes the layers inside of it. */
const boundsAround = (
  { worst }: Explanation.Explanation,
  inner: ReadonlyArray<Explanation.TimelineLayer>
): StackBounds => {
  const { attempts, fixerRuns, modelCalls, requests, time, waits } = worst
  const [first, ...rest] = inner
  const innerWaits = first === undefined ? 0 : boundsOf([first, ...rest]).waits
  return {
    factors: requests === attempts ? [attempts] : [attempts, requests / attempts],
    requests,
    fixerRuns,
    modelCalls,
    waits: Duration.toMillis(waits) + attempts * innerWaits,
    time: Duration.toMillis(time)
  }
}

/** The attempts of a stack with their times. Both timelines have the same attempts, and differ only in when these begin. */
const attemptsOf = (best: Explanation.Timeline, worst: Explanation.Timeline): ReadonlyArray<Attempt> => {
  const upper = worst.lanes.slice(0, -1).map(({ attempts }) => attempts)
  const next = upper.map(() => -1)
  const early = best.lanes.at(-1)?.attempts ?? []
  return (worst.lanes.at(-1)?.attempts ?? []).map(({ at, number }, index) => {
    // the first attempt of an inner layer begins an attempt of the layer around it
    let begins = number === 1
    for (let lane = upper.length - 1; lane >= 0 && begins; lane--) {
      next[lane] = (next[lane] ?? -1) + 1
      begins = upper[lane]?.[next[lane] ?? 0]?.number === 1
    }
    const path = [...upper.map((attempts, lane) => attempts[next[lane] ?? 0]?.number ?? 1), number]
    return { path, earliest: early[index]?.at ?? at, latest: at }
  })
}
