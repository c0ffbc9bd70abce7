/**
 * The outline of a scene: a tree of runs, their turns, the model calls and tool calls of a turn, and the attempts of these. Healthy calls
 * of the same tool in one turn are one branch.
 *
 * @internal
 */
import { textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import type { Scene } from "./Scene.ts"
import { endOf, type Mark, type Span, startOf } from "./Shapes.ts"
import { type Badge, badgesOf, describe, healthOf } from "./branchWords.ts"
import type { Growing, Health, Kind } from "./growing.ts"

/** One branch of the outline, which is one row of the page. */
export interface Branch {
  /** The index of the branch in `Outline.branches`. */
  readonly id: number
  readonly kind: Kind
  /** A name that stays the same while a recording grows. */
  readonly key: string
  readonly parent: number | undefined
  /** The depth in the tree; 0 for runs without a parent. */
  readonly depth: number
  readonly name: string
  /** The arguments, the input or the text in short. */
  readonly note: string
  readonly children: ReadonlyArray<number>
  readonly from: number
  readonly to: number
  /** How long the branch waited for a person, in milliseconds. */
  readonly waited: number
  readonly health: Health
  readonly badges: ReadonlyArray<Badge>
  /** The items that belong to this branch and to none of its children. */
  readonly items: ReadonlyArray<number>
  /** The item that says most about the branch; `undefined` for a group. */
  readonly main: number | undefined
}

/** The branches of a scene, and the branch of each item. */
export interface Outline {
  readonly branches: ReadonlyArray<Branch>
  readonly roots: ReadonlyArray<number>
  /** The id of the innermost branch of each item. */
  readonly branchOf: ReadonlyArray<number>
}

/** Makes the outline of a scene of these events. */
export const make = (scene: Scene, events: ReadonlyArray<Recorded>): Outline => {
  const growth = new Growth(scene, events)
  for (const item of scene.items) growth.take(item)
  return growth.close()
}

class Growth {
  readonly #scene: Scene
  readonly #events: ReadonlyArray<Recorded>
  readonly #runs = new Map<string, Growing>()
  readonly #turns = new Map<string, Growing>()
  readonly #models = new Map<string, Growing>()
  /** The calls by the strand, and the latest call of each id. */
  readonly #calls = new Map<number, Growing>()
  readonly #callOf = new Map<string, Growing>()
  readonly #all: Array<Growing> = []

  constructor(scene: Scene, events: ReadonlyArray<Recorded>) {
    this.#scene = scene
    this.#events = events
  }

  take(item: Span | Mark): void {
    const event = this.#events[item.subject]
    const layer = this.#scene.lanes[item.lane]?.layer
    if (event === undefined || layer === undefined) return
    const growing = this.#ownerOf(item, event, layer)
    growing.items.push(item)
    growing.from = Math.min(growing.from, startOf(item))
    growing.to = Math.max(growing.to, endOf(item))
  }

  #ownerOf(item: Span | Mark, event: Recorded, layer: string): Growing {
    const run = this.#run(event)
    if (layer === "run") return item.shape === "span" ? run : (this.#turns.get(turnKey(event)) ?? run)
    if (layer === "turn") return this.#turn(event)
    if (layer === "tool") return this.#call(item, event)
    const callId = textAt(event, "callId")
    const call = callId === undefined ? undefined : this.#callOf.get(`${event.runId} ${callId}`)
    if (layer === "fixer" && call !== undefined) return call
    return this.#grown(this.#models, turnKey(event), () => this.#add("model", `m${turnKey(event)}`, this.#turn(event)))
  }

  #run(event: Recorded): Growing {
    const { parent, runId } = event
    return this.#grown(this.#runs, runId, () => {
      const call = parent?.callId === undefined ? undefined : this.#callOf.get(`${parent.runId} ${parent.callId}`)
      const starter = call ?? (parent === undefined ? undefined : this.#turnAt(parent.runId, event.at))
      return this.#add("run", `r${runId}`, starter)
    })
  }

  /** The turn of a run that had begun at this time, or the run itself. */
  #turnAt(runId: string, at: number): Growing | undefined {
    const run = this.#runs.get(runId)
    return run?.children.findLast(({ from, kind }) => kind === "turn" && from <= at) ?? run
  }

  #turn(event: Recorded): Growing {
    const run = this.#run(event)
    if (event.turn === 0 && !this.#turns.has(turnKey(event))) return run
    return this.#grown(this.#turns, turnKey(event), () => this.#add("turn", `t${turnKey(event)}`, run))
  }

  #call(item: Span | Mark, event: Recorded): Growing {
    return this.#grown(this.#calls, item.strand, () => {
      const callId = textAt(event, "callId") ?? ""
      const call = this.#add("call", `c${event.runId} ${callId} ${item.events[0] ?? item.subject}`, this.#turn(event))
      this.#callOf.set(`${event.runId} ${callId}`, call)
      return call
    })
  }

  #grown<Key>(map: Map<Key, Growing>, key: Key, make: () => Growing): Growing {
    const existing = map.get(key)
    if (existing !== undefined) return existing
    const growing = make()
    map.set(key, growing)
    return growing
  }

  #add(kind: Kind, key: string, parent: Growing | undefined): Growing {
    const growing: Growing = {
      kind,
      key,
      parent,
      children: [],
      items: [],
      main: undefined,
      from: Infinity,
      to: -Infinity,
      waited: 0,
      health: "ok",
      attempt: 0,
      decided: undefined
    }
    parent?.children.push(growing)
    this.#all.push(growing)
    return growing
  }

  close(): Outline {
    for (const growing of this.#all) {
      if (growing.kind === "model" || growing.kind === "call") this.#split(growing)
      growing.main = mainOf(growing)
    }
    // children follow their parents, except parts, whose health follows from their one span
    for (const growing of this.#all.toReversed()) {
      this.#close(growing)
      growing.health = healthOf(growing, this.#events)
    }
    for (const growing of this.#all) if (growing.kind === "turn") this.#join(growing)
    return this.#numbered()
  }

  /** Gives each attempt, wait for a person and repair a branch of its own, if there are several. */
  #split(growing: Growing): void {
    const spans = growing.items.filter((item) => item.shape === "span" && item.part !== "mending")
    const shown = new Set<Span | Mark>(
      spans.filter((item, at) => item.shape === "span" && item.part !== "wait" && !isEmpty(item, spans[at + 1]))
    )
    if (shown.size < 2) return
    let attempts = 0
    let asked: Growing | undefined
    for (const item of growing.items) {
      if (asked !== undefined && this.#events[item.subject]?.type === "approval-decided") {
        asked.decided = item.subject
        asked = undefined
      }
      if (!shown.has(item)) continue
      const part = this.#add("part", `p${growing.key} ${item.events[0] ?? item.subject} ${item.label}`, growing)
      part.main = item
      part.items.push(item)
      part.from = startOf(item)
      part.to = endOf(item)
      if (item.shape !== "span") continue
      if (item.part === "approval") asked = part
      if (item.part === (growing.kind === "call" ? "call" : "attempt")) part.attempt = ++attempts
    }
  }

  /** Adds the times of the children, and sorts them. */
  #close(growing: Growing): void {
    for (const child of growing.children) {
      growing.from = Math.min(growing.from, child.from)
      growing.to = Math.max(growing.to, child.to)
    }
    const isSorted = growing.children.every((child, at, all) => at === 0 || (all[at - 1]?.from ?? 0) <= child.from)
    if (!isSorted) growing.children = growing.children.toSorted((one, other) => one.from - other.from)
    growing.waited = isLeafOfWork(growing) ? personIn(growing.items) : longestOf(growing)
  }

  /** Joins the healthy calls of a turn to the same tool. */
  #join(turn: Growing): void {
    const healthy = new Map<string, Array<Growing>>()
    for (const child of turn.children) {
      if (child.kind !== "call" || child.health !== "ok" || child.children.length > 0) continue
      const tool = textAt(this.#events[child.main?.subject ?? -1], "tool") ?? ""
      const list = healthy.get(tool)
      if (list === undefined) healthy.set(tool, [child])
      else list.push(child)
    }
    for (const [tool, calls] of healthy) {
      if (calls.length < 2) continue
      const group = this.#add("group", `g${turn.key} ${tool}`, turn)
      const joined = new Set(calls)
      turn.children = turn.children.filter((child) => !joined.has(child))
      for (const call of calls) {
        call.parent = group
        group.children.push(call)
        group.from = Math.min(group.from, call.from)
        group.to = Math.max(group.to, call.to)
      }
    }
  }

  /** Numbers the branches in the order in which they are shown. */
  #numbered(): Outline {
    const branches: Array<Branch> = []
    const branchOf: Array<number> = Array.from({ length: this.#scene.items.length }, () => -1)
    const roots: Array<number> = []
    const waiting = this.#all
      .filter(({ parent }) => parent === undefined)
      .toSorted((one, other) => one.from - other.from)
      .map((growing) => ({ growing, parent: undefined as number | undefined, depth: 0 }))
      .toReversed()
    const childrenOf = new Array<Array<number>>()
    // a loop and no recursion, because runs may be nested deeper than the call stack
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { depth, growing, parent } = next
      const id = branches.length
      const children = new Array<number>()
      childrenOf.push(children)
      if (parent === undefined) roots.push(id)
      else childrenOf[parent]?.push(id)
      for (const item of growing.items) branchOf[item.id] = id
      const branch = Object.assign(worded(growing, this.#events), {
        id,
        kind: growing.kind,
        key: growing.key,
        parent,
        depth,
        children,
        from: growing.from,
        to: growing.to,
        waited: growing.waited,
        health: growing.health,
        items: growing.items.map((item) => item.id),
        main: growing.main?.id
      })
      branches.push(branch)
      for (const child of growing.children.toReversed()) waiting.push({ growing: child, parent: id, depth: depth + 1 })
    }
    return { branches, roots, branchOf }
  }
}

/** The words of a branch. They are made when they are read, because few branches of a long run have a row. */
const worded = (growing: Growing, events: ReadonlyArray<Recorded>): Pick<Branch, "name" | "note" | "badges"> => {
  let words: { readonly name: string; readonly note: string } | undefined
  let badges: ReadonlyArray<Badge> | undefined
  return {
    get name() {
      return (words ??= describe(growing, events)).name
    },
    get note() {
      return (words ??= describe(growing, events)).note
    },
    get badges() {
      return (badges ??= badgesOf(growing, events))
    }
  }
}

const turnKey = ({ runId, turn }: Recorded): string => `${runId} ${turn}`

/** Whether a span only stands for a call that has not begun, because it first waits for a person. */
const isEmpty = (item: Span | Mark, next: Span | Mark | undefined): boolean =>
  item.shape === "span" &&
  item.part === "call" &&
  item.state === "ok" &&
  next?.shape === "span" &&
  next.part === "approval"

const isLeafOfWork = ({ kind }: Growing): boolean => kind === "call" || kind === "part" || kind === "model"

const personIn = (items: ReadonlyArray<Span | Mark>): number =>
  items.reduce((sum, item) => sum + (item.shape === "span" && item.part === "approval" ? item.to - item.from : 0), 0)

/** The longest wait of the children of a turn, or the sum over the turns of a run. */
const longestOf = ({ children, kind }: Growing): number =>
  kind === "run"
    ? children.reduce((sum, { waited }) => sum + waited, 0)
    : children.reduce((most, { waited }) => Math.max(most, waited), 0)

/** The item that says most about a branch: its last attempt, or its first item. */
const mainOf = ({ items }: Growing): Span | Mark | undefined =>
  items.findLast((item) => item.shape === "span" && (item.part === "attempt" || item.part === "call")) ??
  items.find((item) => item.shape === "span") ??
  items[0]
