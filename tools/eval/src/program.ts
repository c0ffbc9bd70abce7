/** Does what a command line asks for, and gives the exit code. */
import { Model } from "@kintsugi/core"
import { Effect } from "effect"
import { type Evaluation, live, ModelUnusable, offline, type Plan } from "./evaluate.ts"
import { format } from "./format.ts"
import { page } from "./page.ts"
import { modelOf } from "./providers.ts"
import { type Report, reportOf } from "./report.ts"
import type { Settings } from "./settings.ts"

/** What the program needs of the process around it. */
export interface Around {
  readonly write: (text: string) => void
  readonly complain: (text: string) => void
  /** Says how far it is; live runs may take long. */
  readonly progress: (text: string) => void
  /** Keeps the page. */
  readonly keep: (page: string) => void
  /** `2026-11-21` */
  readonly date: string
}

/** How well the stand-in corrects itself on the page, besides as it does by default. */
const others = [0.5, 0.95]

export const run = (settings: Settings, around: Around): Effect.Effect<number> =>
  Effect.match(evaluated(settings, planOf(settings, around)), {
    onSuccess: ({ repeated, report, varied }) => {
      const { rates } = settings
      if (settings.isWritten) around.keep(page({ report, varied, repeated, rates, date: around.date, settings }))
      around.write(
        settings.isJson ? `${JSON.stringify(jsonOf(settings, report), undefined, 2)}\n` : `${format(report)}\n`
      )
      return 0
    },
    onFailure: ({ message }) => {
      around.complain(`error: ${message}\n`)
      return 1
    }
  })

/** The default, and the same with models that correct themselves less and more often. */
export interface Varied {
  readonly corrects: number
  readonly report: Report
}

const evaluated = Effect.fnUntraced(function* (settings: Settings, plan: Plan) {
  const report = reportOf(yield* evaluation(settings, plan), plan)
  const varied: Array<Varied> = [{ corrects: plan.rates.corrects, report }]
  if (settings.isWritten) {
    for (const share of others) {
      // a model that is told little, or asked to repair, is worse and better in the same measure
      const scale = share / plan.rates.corrects
      const guesses = Math.min(1, plan.rates.guesses * scale)
      const rates = { ...plan.rates, corrects: share, guesses, mends: Math.min(1, plan.rates.mends * scale) }
      varied.push({ corrects: share, report: reportOf(yield* offline({ ...plan, rates }), plan) })
    }
  }
  const seed = plan.seed + 1
  const repeated = settings.isWritten ? { seed, report: reportOf(yield* offline({ ...plan, seed }), plan) } : undefined
  return { report, repeated, varied: varied.toSorted((a, b) => a.corrects - b.corrects) }
})

const evaluation = ({ asked }: Settings, plan: Plan): Effect.Effect<Evaluation, ModelUnusable> => {
  if (asked.type === "stand-in") return offline(plan)
  const { baseUrl, model, provider } = asked
  return Effect.flatMap(Model.Model, (service) => live(plan, service)).pipe(
    Effect.provide(modelOf(provider, model, baseUrl === undefined ? {} : { baseUrl })),
    Effect.catchTag("ConfigError", ({ message }) => Effect.fail(new ModelUnusable({ message })))
  )
}

const planOf = ({ maxCost, maxTokens, ...settings }: Settings, { progress }: Around): Plan => ({
  ...settings,
  limits: { maxTokens, maxCost },
  ...(settings.asked.type === "live" ? { heard: (line) => progress(`${line}\n`) } : {})
})

/** What was asked for, and what came of it. */
const jsonOf = ({ asked, policies, price, rates, runs, scenarios, seed }: Settings, report: Report) => ({
  asked: asked.type === "stand-in" ? { type: asked.type, rates } : { ...asked, breaks: rates.breaks },
  seed,
  runs,
  price,
  scenarios: scenarios.map(({ name, of, says }) => ({ name, of, says })),
  policies: policies.map(({ name, says }) => ({ name, says })),
  report
})
