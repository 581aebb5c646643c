using FastPort.Tags.OpcFoundation;
using FastPort.Tags.OpcUa;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds the OPC Foundation's .NET stack to the generic host.</summary>
public static class OpcFoundationRegistration
{
    /// <summary>Lets endpoints use <see cref="OpcUaStack.OpcFoundation"/>. The others keep FastPort's client.</summary>
    /// <param name="services">The host's services.</param>
    public static IServiceCollection AddOpcFoundationStack(this IServiceCollection services) =>
        services.AddSingleton(new OpcFoundationLinks(FoundationLink.ConnectAsync));
}
