/** Names the family of a model: the part that all names of one model have in common, at any provider and of any date. */

/**
 * The family of a model, from the model's name in lower case. The vendor or region before the name is removed, and so are the date,
 * version, stage (`latest`, `preview` …) or variant behind it. For example, `us.anthropic.claude-sonnet-4-6-20260217-v1:0`,
 * `anthropic/claude-sonnet-4.6` and `claude-sonnet-4-6@20260217` are all `claude-sonnet-4-6`. The function also works for a name that no
 * table has.
 *
 * @internal
 */
export const familyOf = (name: string): string => {
  // Mutant `"Stryker was here!"` survives: a text that is divided has a last piece
  const last = name.trim().toLowerCase().replace(/^ft:/, "").split("/").at(-1) ?? ""
  const [bare = ""] = last.replace(vendor, "").split(/[:@]/)
  const isClaude = bare.startsWith("claude-")
  // removes a final `-0`, because the alias `claude-sonnet-4-0` means `claude-sonnet-4`
  let family = isClaude ? bare.replaceAll(".", "-").replace(/-v\d$/, "").replace(/-0$/, "") : bare
  for (let shorter = family.replace(remark, ""); shorter !== family; shorter = family.replace(remark, "")) {
    family = shorter
  }
  return family
}

/** Matches the region and the vendor before a name of Bedrock, as in `us.anthropic.` and `openai.`. */
const vendor = /^(?:[a-z-]{2,8}\.)?(?:anthropic|openai|deepseek|moonshotai|moonshot|google|mistral|qwen|meta)\./

/**
 * Matches the end of a name that says nothing of the family: a date in one of its forms (`20251101`, `2025-11-01`, `05-20`, `08-2024`,
 * `0905`), the number of a revision, or a stage. Of a date with hyphens, the year goes last, as a number of four digits.
 */
const remark =
  /-(?:20\d{6}|(?:0[1-9]|1[0-2])-(?:[0-3]\d|20\d\d)|\d{4}|00\d|latest|preview|exp|experimental|beta|customtools)$/
