/**
 * Texts for the warnings of the SDK in a reply, about settings and tools that a provider does not support. The three versions of the
 * specification have different forms for them.
 */
import * as Redaction from "@kintsugi/core/Redaction"
import * as Predicate from "effect/Predicate"

/** One text for each warning: its type, the setting or tool that it is about, and the words of the provider. */
export const textsOf = (warnings: unknown): ReadonlyArray<string> =>
  Array.isArray(warnings) ? warnings.map(textOf).filter((text) => text !== "") : []

const textOf = (warning: unknown): string => {
  const [type, feature, setting, details, message] = ["type", "feature", "setting", "details", "message"].map((key) =>
    textAt(warning, key)
  )
  const tool = Predicate.hasProperty(warning, "tool") ? textAt(warning.tool, "name") : undefined
  const about = feature ?? setting ?? tool
  const words = details ?? message
  const said = [type === "other" ? undefined : type, about === undefined ? undefined : `'${about}'`]
    .filter(Predicate.isNotUndefined)
    .join(" ")
  return Redaction.foreign([said, words ?? ""].filter((text) => text !== "").join(": "))
}

const textAt = (value: unknown, key: string): string | undefined => {
  const found = Predicate.hasProperty(value, key) ? value[key] : undefined
  return Predicate.isString(found) && found !== "" ? found : undefined
}
