using Microsoft.Extensions.Configuration;

namespace IndustrialGateway;

/// <summary>Configuration section <c>Gateway</c>.</summary>
internal sealed class GatewayOptions
{
    /// <summary>Seconds between two health lines; above 0.</summary>
    public double HealthIntervalSeconds { get; set; } = 10;

    public static GatewayOptions Read(IConfiguration configuration)
    {
        GatewayOptions options = configuration.GetSection("Gateway").Get<GatewayOptions>() ?? new GatewayOptions();
        return options.HealthIntervalSeconds is > 0 and <= 86_400
            ? options
            : throw new InvalidOperationException(
                $"Gateway:HealthIntervalSeconds is {options.HealthIntervalSeconds}; allowed: values above 0, up to 86400.");
    }
}
