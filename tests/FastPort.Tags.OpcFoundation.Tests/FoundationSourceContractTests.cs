using FastPort.Tags.OpcUa;
using FastPort.Tags.OpcUa.Sources;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Tags.OpcFoundation.Tests;

/// <summary>The contract of sources, for the OPC Foundation's stack.</summary>
public sealed class FoundationSourceContractTests : OpcUaSourceContract
{
    private protected override OpcUaTagSource Create(OpcUaEndpointOptions options, OpcUaTagsOptions settings) =>
        new(options, settings, NullLoggerFactory.Instance, connect: FoundationLink.ConnectAsync);
}
