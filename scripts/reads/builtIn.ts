/** What the built-in tools say of themselves to a model. */
import { Tool } from "@kintsugi/core"
import type { Schema } from "effect"
import type { ToolDefinition } from "../../packages/core/src/tool/ToolDefinition.ts"
import type { ReadText } from "./texts.ts"

/** The descriptions of the built-in tools and of their parameters. */
export const ofTools = (): ReadonlyArray<ReadText> =>
  [
    ...[Tool.escalate, Tool.throwException, Tool.complete].map(({ definition, name }) => ({
      when: `\`Tool.${name}\``,
      spec: definition.spec()
    })),
    { when: "`read_result`, of `Tool.putAside`", spec: Tool.putAside({ above: 1 }).reader.spec() },
    ...addedTo(Tool.onDemand([Tool.complete])[0].definition).map((added) => ({
      when: `\`${added.name}\`, of \`Tool.onDemand\``,
      spec: added.spec()
    }))
  ].map(({ spec, when }) => ({ when, text: [spec.description, ...describedIn(spec.parameters)].join("\n") }))

/** The tools that find and call a tool on demand. */
const addedTo = (tool: ToolDefinition): ReadonlyArray<ToolDefinition> => tool.onDemand?.among([tool]) ?? []

/** The descriptions of the parameters of a tool, each with its name. */
const describedIn = ({ properties }: Schema.JsonObject): ReadonlyArray<string> =>
  Object.entries(properties ?? {}).flatMap(([name, schema]: readonly [string, unknown]) =>
    typeof schema === "object" && schema !== null && "description" in schema ? [`${name}: ${schema.description}`] : []
  )
