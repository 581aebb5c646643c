using FastPort.Configuration;
using FastPort.Tags;
using FastPort.Tags.OpcUa;
using FastPort.Tags.OpcUa.Hosting;
using FastPort.Tags.OpcUa.Sources;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds tags of OPC UA servers to the generic host.</summary>
public static class OpcUaTagsRegistration
{
    /// <summary>
    /// Adds a <see cref="TagServer"/> with the tags of OPC UA servers, to which it connects in the background, and again after each loss.
    /// FastPort clients reach it through <see cref="TagHandlers.MapTags(FastPort.FastPortBuilder)"/>. The tags of servers that
    /// answer are known when the first client connects; an OPC UA server of the same host is registered before. The tag server also serves
    /// each <see cref="ITagSource"/> of the services and asks their <see cref="TagAuthorizer"/>, if there is one. Its
    /// <see cref="OpcUaTagsOptions"/> come from configuration section <c>OpcBridge</c> and from the returned builder. Unknown keys and
    /// values out of range stop the host's start with an <see cref="OptionsValidationException"/> that names all of them.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration (its root), or a section of any name.</param>
    /// <exception cref="InvalidOperationException">A tag server is already registered.</exception>
    public static OptionsBuilder<OpcUaTagsOptions> AddOpcUaTags(this IServiceCollection services, IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configuration);
        Add(services, static provider => provider.GetRequiredService<IOptions<OpcUaTagsOptions>>().Value);
        services.AddSingleton<IValidateOptions<OpcUaTagsOptions>>(
            static provider => new OpcFoundationCheck(provider.GetService<OpcFoundationLinks>()));
        IConfigurationSection section =
            configuration as IConfigurationSection ?? configuration.GetSection(OpcUaTagsOptions.SectionName);
        return SectionOptions.Add<OpcUaTagsOptions>(services, Options.Options.DefaultName, section, section.Path);
    }

    /// <summary>Adds the tags of options that were read and validated.</summary>
    internal static void AddOpcUaTags(this IServiceCollection services, OpcUaTagsOptions options) => Add(services, _ => options);

    private static void Add(IServiceCollection services, Func<IServiceProvider, OpcUaTagsOptions> options)
    {
        NamedServices.Refuse<TagServer>(services, Options.Options.DefaultName);
        services.TryAddSingleton(TimeProvider.System);
        services.AddSingleton(provider =>
        {
            OpcUaTagsOptions read = options(provider);
            ILoggerFactory loggerFactory = provider.GetRequiredService<ILoggerFactory>();
            TimeProvider time = provider.GetRequiredService<TimeProvider>();
            OpcFoundationLinks? foundation = provider.GetService<OpcFoundationLinks>();
            return new OpcUaTagSources([.. read.Endpoints.Select(endpoint => new OpcUaTagSource(
                endpoint, read, loggerFactory, time, endpoint.Stack == OpcUaStack.OpcFoundation ? foundation!.Connect : null))]);
        });

        // A name of an endpoint belongs to that endpoint.
        services.AddSingleton(static provider => new TagServer(
            [.. provider.GetRequiredService<OpcUaTagSources>().All, .. provider.GetServices<ITagSource>()],
            loggerFactory: provider.GetRequiredService<ILoggerFactory>(),
            time: provider.GetRequiredService<TimeProvider>(),
            latencies: provider.GetService<LatencyStats>(),
            authorizer: provider.GetService<TagAuthorizer>()));
        services.AddSingleton<IHostedService, OpcUaTagService>();
    }
}
