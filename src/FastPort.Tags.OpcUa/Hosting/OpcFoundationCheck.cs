using FastPort.Tags.OpcUa.Sources;
using Microsoft.Extensions.Options;

namespace FastPort.Tags.OpcUa.Hosting;

/// <summary>Refuses endpoints that need the stack of the OPC Foundation if the program does not have it.</summary>
/// <param name="foundation">The stack; null if the program does not have it.</param>
internal sealed class OpcFoundationCheck(OpcFoundationLinks? foundation) : IValidateOptions<OpcUaTagsOptions>
{
    /// <summary>A sentence for each endpoint that needs the stack.</summary>
    public static IEnumerable<string> Problems(OpcUaTagsOptions options) => options.Endpoints
        .Where(static endpoint => endpoint.Stack == OpcUaStack.OpcFoundation)
        .Select(static endpoint =>
            $"{OpcUaTagsOptions.SectionName}:{nameof(options.Endpoints)}:{endpoint.Name}:{nameof(endpoint.Stack)} is {endpoint.Stack}, "
            + "which this program does not have. Build the bridge with -p:WithOpcFoundation=true; in another program, reference "
            + "FastPort.Tags.OpcFoundation and call AddOpcFoundationStack.");

    public ValidateOptionsResult Validate(string? name, OpcUaTagsOptions options) =>
        foundation is null && Problems(options).ToArray() is { Length: > 0 } problems
            ? ValidateOptionsResult.Fail(problems)
            : ValidateOptionsResult.Success;
}
