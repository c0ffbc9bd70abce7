/** Where an agent says whether a model drives it: as a fixer it gets a report then. Every other gets the raw arguments. */
export const ReadsReport: unique symbol = Symbol.for("~@kintsugi/core/ReadsReport")
