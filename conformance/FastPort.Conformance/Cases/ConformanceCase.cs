using System.Text.Json.Nodes;

namespace FastPort.Conformance.Cases;

/// <summary>One case: what a scripted server and its client do, step by step. conformance/README.md defines the format.</summary>
/// <param name="Name">The file's path without its extension, and the variant in parentheses if there are several.</param>
/// <param name="Shows">What the case shows, in one sentence.</param>
/// <param name="Section">The section of the documentation that demands it, as <c>protocol.md#errors</c>.</param>
/// <param name="Needs">The capabilities that a client needs for it.</param>
/// <param name="Within">The upper bound of its time.</param>
/// <param name="Values">Named values of the variant.</param>
/// <param name="Steps">The steps.</param>
internal sealed record ConformanceCase(
    string Name,
    string Shows,
    string Section,
    IReadOnlyList<string> Needs,
    TimeSpan Within,
    JsonObject Values,
    IReadOnlyList<JsonObject> Steps);
