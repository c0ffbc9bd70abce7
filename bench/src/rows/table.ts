/** One table with ten rows around a tool that succeeds, beside the same tool without any. */
import { Model, Recovery, Tool } from "@kintsugi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allocated } from "../allocation.ts"
import { each, report, times } from "../figures.ts"
import { interleaved } from "../harness.ts"
import * as Ours from "../ours.ts"
import { effects } from "../portion.ts"
import * as Work from "../work.ts"

const runs = 10_000
const turns = 2

class E0 extends Data.TaggedError("E0")<{}> {}
class E1 extends Data.TaggedError("E1")<{}> {}
class E2 extends Data.TaggedError("E2")<{}> {}
class E3 extends Data.TaggedError("E3")<{}> {}
class E4 extends Data.TaggedError("E4")<{}> {}
class E5 extends Data.TaggedError("E5")<{}> {}
class E6 extends Data.TaggedError("E6")<{}> {}
class E7 extends Data.TaggedError("E7")<{}> {}
class E8 extends Data.TaggedError("E8")<{}> {}

type Failing = E0 | E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8

const add = Tool.make("add", {
  description: Work.description,
  parameters: Ours.Params,
  success: Schema.Finite,
  run: ({ a, b }): Effect.Effect<number, Failing> => Effect.succeed(a + b)
})

const ladder = Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell())

const guarded = add.pipe(
  Tool.onError({
    E0: ladder,
    E1: ladder,
    E2: ladder,
    E3: ladder,
    E4: ladder,
    E5: ladder,
    E6: ladder,
    E7: ladder,
    E8: ladder,
    DeserializationError: Recovery.tell()
  })
)

const running = (tool: Tool.AnyTool) => {
  const agent = Ours.agentOf(tool)
  return Effect.provideService(
    // nothing of the tool fails
    Effect.suspend(() => agent(Work.input) as Effect.Effect<string, unknown, Model.Model>),
    Model.Model,
    Ours.modelOf(turns)
  )
}

const [plain, withTable] = [running(add), running(guarded)]

const samples = await interleaved(
  [effects("no table", runs, plain, Work.answer), effects("ten rows", runs, withTable, Work.answer)],
  { laps: 15 }
)

const [without, within] = [await allocated(plain), await allocated(withTable)]

report("a table with ten rows, on success", [
  ...each(samples, "no table", runs),
  ...each(samples, "ten rows", runs),
  times("time", samples, ["ten rows", "no table"], { most: 1.05, margin: 0.05 }),
  { name: "allocated without", value: without, unit: "B" },
  { name: "allocated with", value: within, unit: "B" },
  { name: "more per call", value: within - without, unit: "B", most: 16 }
])
