/** The story of the demo: four runs of the agent, the most common failure first. */
import type { EmbeddedModel, Faults, Settings } from "./cli.ts"
import { example } from "./input.ts"

export interface Scene {
  readonly title?: string
  /** What the agent is asked; absent for the user's own text. */
  readonly request?: string
  readonly model: Settings["model"]
}

const failing = (faults: Faults): EmbeddedModel => ({ type: "embedded", faults })

const person = '{"name": "Ada", "address": {"city": "Oslo", "zip": 150}}'

export const story: ReadonlyArray<Scene> = [
  {
    title: "1. Wrong arguments are mended without a model",
    request: `How many keys, down to depth 2? ${person}`,
    model: failing("none")
  },
  {
    title: "2. A fixer repairs broken JSON",
    request: `How many keys? ${example}`,
    model: failing("none")
  },
  {
    title: "3. The model is told and corrects its call",
    request: `How many keys under adress? ${person}`,
    model: failing("none")
  },
  {
    title: "4. The storm: a refused request, an overloaded model, a broken connection, all at once",
    request: `How many keys? ${example}`,
    model: failing("default")
  }
]
