using Microsoft.Extensions.Options;

namespace FastPort.Telemetry;

/// <summary>Refuses a wrong <c>LatencyStats</c> section when the program starts.</summary>
public sealed class LatencyStatsOptionsValidator : IValidateOptions<LatencyStatsOptions>
{
    /// <inheritdoc />
    public ValidateOptionsResult Validate(string? name, LatencyStatsOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        var failures = options.Validate();
        return failures.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(failures);
    }
}
