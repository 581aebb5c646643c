using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace FastPort.Dashboard.Hosting;

/// <summary>Refuses a dashboard of a server that was not added.</summary>
internal sealed class ShownServerCheck(IServiceProviderIsKeyedService services) : IValidateOptions<DashboardOptions>
{
    public ValidateOptionsResult Validate(string? name, DashboardOptions options)
    {
        bool isThere = options.ServerName.Length == 0
            ? services.IsService(typeof(FastPortServer))
            : services.IsKeyedService(typeof(FastPortServer), options.ServerName);
        return isThere || !options.IsEnabled
            ? ValidateOptionsResult.Success
            : ValidateOptionsResult.Fail(
                $"{DashboardOptions.SectionName}:{nameof(DashboardOptions.ServerName)} is "
                + (options.ServerName.Length == 0
                    ? "empty; no server without a name was added."
                    : $"'{options.ServerName}'; no server was added with that name.")
                + " Give the name that services.AddFastPort was given.");
    }
}
