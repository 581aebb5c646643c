using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>FindServers and GetEndpoints (OPC 10000-4, 5.5). They need no session.</summary>
internal static class DiscoveryServices
{
    public static void GetEndpoints(in ServiceCall call, ref BinaryDecoder decoder)
    {
        GetEndpointsRequest request = decoder.ReadStructure<GetEndpointsRequest>();
        if (!decoder.Error.IsGood)
        {
            call.Fault(decoder.Error);
            return;
        }

        bool isAsked = request.ProfileUris is not { Length: > 0 } uris || uris.Contains(OpcUaServer.TransportProfile);
        call.Reply(new GetEndpointsResponse
        {
            Endpoints = isAsked ? call.Server.DescribeEndpoints(call.Channel.UrlFor(request.EndpointUrl)) : [],
        });
    }

    public static void FindServers(in ServiceCall call, ref BinaryDecoder decoder)
    {
        FindServersRequest request = decoder.ReadStructure<FindServersRequest>();
        if (!decoder.Error.IsGood)
        {
            call.Fault(decoder.Error);
            return;
        }

        bool isAsked = request.ServerUris is not { Length: > 0 } uris || uris.Contains(call.Server.ApplicationUri);
        call.Reply(new FindServersResponse { Servers = isAsked ? [call.Server.Describe(call.Channel.UrlFor(request.EndpointUrl))] : [] });
    }
}
