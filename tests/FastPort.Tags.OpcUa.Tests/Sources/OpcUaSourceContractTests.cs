using FastPort.Tags.OpcUa.Sources;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>The contract of sources, for the source on FastPort's client.</summary>
public sealed class OpcUaSourceContractTests : OpcUaSourceContract
{
    private protected override OpcUaTagSource Create(OpcUaEndpointOptions options, OpcUaTagsOptions settings) =>
        new OpcUaTagSource(options, settings, NullLoggerFactory.Instance);
}
