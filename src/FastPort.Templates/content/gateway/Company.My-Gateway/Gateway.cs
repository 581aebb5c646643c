using FastPort.Tags;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Company.My_Gateway;

/// <summary>
/// The variables of OPC UA servers as tags, which FastPort clients read, write and watch. Settings come from appsettings.json beside the
/// program, from the environment (OpcBridge__Endpoints__plant__EndpointUrl=opc.tcp://10.0.0.5:4840) and from the arguments.
/// </summary>
public static class Gateway
{
    public static IHost Build(string[] args)
    {
        var settings = new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory };
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(settings);
        builder.Services.AddOpcUaTags(builder.Configuration);
        builder.Services.AddFastPort(builder.Configuration).MapTags();
        return builder.Build();
    }
}
