/**
 * Draws the picture of the README, and those of `docs/guide/see.md`, with the library itself: a run of the demo's agent, policies, and
 * statistics of forty runs.
 *
 *   npm run pictures
 *
 * A test draws them anew and compares.
 */
import { Recovery } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { PolicySvg, PolicyView, Recording, Scene, Stats, StatsSvg, Svg } from "@kintsugi/view"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "./files.ts"
import * as Hero from "./pictures/hero.ts"
import { play, type Refusal } from "./pictures/runs.ts"
import { playStory } from "./pictures/story.ts"

/** Where the pictures of the guide stand, from the root. */
export const folder = "docs/guide/pictures"

/** The picture of the README, for a screen and for a phone. */
export const heroes = { wide: "site/hero.svg", narrow: "site/hero-narrow.svg" } as const

const unavailable: Refusal = { status: 503, message: "Service temporarily unavailable" }

const input = "How many keys? {name: world, age: 30, active: true}"

const hasToolResult = (body: unknown): boolean => JSON.stringify(body).includes('"role":"tool"')

/** As `npm run demo`: one failure that the transport heals, and three in a row that it does not. */
const demo = () => {
  let afterResult = 0
  return play({
    seed: 1,
    input,
    refuses: (number, body) => (number === 1 || (hasToolResult(body) && ++afterResult <= 3) ? unavailable : undefined)
  })
}

/** A server that refuses more the later it gets; the same numbers in every run of this script. */
const many = async () => {
  let stats = Stats.empty
  for (let run = 0; run < 40; run++) {
    const refuses = (number: number): Refusal => {
      const chance = (number * 7919 + run * 104_729) % 100
      if (chance >= 22 + run) return undefined
      return chance % 3 === 0 ? { status: 429, message: "Rate limit reached" } : unavailable
    }
    const lines = await play({ seed: run, input: run % 4 === 0 ? 'How many keys? {"a": 1, "b": 2}' : input, refuses })
    stats = Stats.add(stats, Stats.of(Recording.fromLines(lines)))
  }
  return stats
}

/** The policy of the guide. */
export const search = {
  NetworkError: Recovery.retry({ maxAttempts: 4, initialBackoff: "1 second", maxBackoff: "4 seconds", jitter: "full" })
}

/** All of them, by their paths. */
export const render = async (): Promise<ReadonlyMap<string, string>> => {
  const lines = await demo()
  const story = await playStory()
  const layer = { name: "search", explanation: Recovery.explain(search) }
  const http = { name: "http", explanation: Transport.explain() }
  return new Map([
    [heroes.wide, Hero.draw(story, true)],
    [heroes.narrow, Hero.draw(story, false)],
    [`${folder}/events.jsonl`, `${lines.join("\n")}\n`],
    [`${folder}/run.svg`, Svg.draw(Scene.make(Recording.fromLines(lines)))],
    [`${folder}/policy.svg`, PolicySvg.draw(PolicyView.make([layer]))],
    [`${folder}/layers.svg`, PolicySvg.draw(PolicyView.make([layer, http]))],
    [`${folder}/stats.svg`, StatsSvg.draw(await many())]
  ])
}

if (import.meta.main) {
  for (const [path, text] of await render()) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}
