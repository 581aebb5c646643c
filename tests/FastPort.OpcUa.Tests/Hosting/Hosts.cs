using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;

namespace FastPort.OpcUa.Tests.Hosting;

/// <summary>Hosts with nothing but a configuration.</summary>
internal static class Hosts
{
    public static HostApplicationBuilder Create(params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(settings.Select(static s => KeyValuePair.Create(s.Key, (string?)s.Value)));
        return builder;
    }
}
